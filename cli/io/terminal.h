// What is known of the terminals that standard output and standard error go to, if they go to any.
#pragma once

#include <cstddef>
#include <string_view>

namespace warptime::cli {

enum class ColourWhen { automatic, always, never };

// Whether text to this descriptor has colours: automatic is a terminal, unless NO_COLOR is set and not empty, or TERM is
// `dumb` or not set.
bool has_colour(int descriptor, ColourWhen when);
// In characters: COLUMNS, else what the terminal says. 0: not known, or no terminal.
std::size_t width_of_terminal(int descriptor);

// Whether diagnostics have colours; false at first.
bool colours_diagnostics();
void set_colours_diagnostics(bool colours);

// A line at the bottom of the terminal on standard error that says what goes on, from the first second on until hide().
// `enabled`: there is such a terminal. One for the process; not for one that forks.
void show_activity(std::string_view what, bool enabled);
void hide_activity();
// What goes on from now on; nothing where there is no line.
void name_activity(std::string_view what);
// Makes room for other text; the line comes back when it is next due.
void clear_activity_line();
// While another line (Progress) shows more than this one, it stays away.
void suspend_activity(bool suspended);

}  // namespace warptime::cli
