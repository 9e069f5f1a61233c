"""The reference pages of the site, made from the code: scripts/site runs it.

Commands come from `warptime help --man`, which is made of what --help says; formats from schemas/; Python from the built module's
signatures and docstrings; C++ from the public headers that cmake/install.cmake names.
"""
import html
import inspect
import json
import os
import re
import subprocess
import sys
import textwrap


def title_of(path):
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            if line.startswith("# "):
                return line[2:].strip().strip("`")
    raise SystemExit(f"scripts/site: {path} has no title")


def plain(text):
    """Text that Markdown leaves as it is."""
    return re.sub(r"([\\*_\[\]#|~^])", r"\\\1", html.escape(text, quote=False))


def prose(text):
    """Text in which only `code` is special."""
    return "".join(part if part.startswith("`") and len(part) > 1 else plain(part) for part in re.split(r"(`[^`\n]+`)", text))


# --- commands -------------------------------------------------------------------------------------------------------

ROFF = {"\\e": "\\", "\\-": "-", "\\(ha": "^", "\\(ti": "~", "\\(aq": "'", "\\&": ""}


def without_roff(text):
    for escape, character in ROFF.items():
        text = text.replace(escape, character)
    return text


def inline(line):
    """A line of a manual page in Markdown: bold is code, italics are the values of options."""
    found = ""
    for kind, text in re.findall(r"\\f([BIR])((?:(?!\\f[BIR]).)*)", "\\fR" + line):
        text = without_roff(text)
        found += f"`{text}`" if kind == "B" and text else f"*{plain(text)}*" if kind == "I" and text else plain(text)
    return found


def markdown_of_man(page, title):
    lines, out, example, i = page.splitlines(), [f"# {title}", ""], False, 0
    while i < len(lines):
        line, i = lines[i], i + 1
        if line.startswith(".TH"):
            continue
        heading = re.match(r'\.(SH|SS) "?(.*?)"?$', line)
        if heading and heading.group(2) == "SEE ALSO":
            break
        if heading:
            text = without_roff(heading.group(2))
            out += ["", ("## " if heading.group(1) == "SH" else "### ") + (text.capitalize() if text.isupper() else plain(text)), ""]
        elif line in (".nf", ".EX"):
            example = True
            out += ["```console" if line == ".EX" else "```text"]
        elif line in (".fi", ".EE"):
            example = False
            out += ["```", ""]
        elif line == ".TP":
            out += ["", inline(lines[i]), ""]
            out += [":   " + inline(lines[i + 1])]
            i += 2
        elif line == ".PP":
            out.append("")
        elif example:
            text = without_roff(re.sub(r"\\f[BIR]", "", line))
            out.append("$ " + text if out[-1] == "```console" or (text.startswith("warptime ") and "```console" in out) else text)
        elif not line.startswith("."):
            out.append(("    " if out[-1].startswith((":   ", "    ")) else "") + inline(line))
    return "\n".join(out) + "\n"


def write_commands(warptime, write):
    def said(*words):
        environment = os.environ | {"SOURCE_DATE_EPOCH": "0"}
        return subprocess.run([warptime, *words], check=True, capture_output=True, text=True, env=environment).stdout

    commands = [line.split("\t")[0] for line in said("complete", "").splitlines()]
    index = markdown_of_man(said("help", "--man"), "All commands")
    write("reference/commands/index.md", re.sub(r"^`warptime-(\w+)`\(1\)$", r"[`warptime \1`](\1.md)", index, flags=re.M))
    for command in commands:
        if command != "help":
            write(f"reference/commands/{command}.md", markdown_of_man(said("help", "--man", command), command))


# --- schemas --------------------------------------------------------------------------------------------------------


def type_of(schema):
    """What a value is, in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{plain(name)}](#{name})" if "$defs" in schema["$ref"] else "the whole"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(type_of(one) for one in schema[key]))
    kinds = schema.get("type", "any value")
    text = " or ".join(kinds) if isinstance(kinds, list) else kinds
    if "items" in schema:
        text = text.replace("array", f"array of {type_of(schema['items'])}")
    if schema.get("minimum") is not None and schema.get("maximum") is not None:
        text += f", {schema['minimum']} to {schema['maximum']}"
    elif schema.get("minimum") is not None:
        text += f", at least {schema['minimum']}"
    elif schema.get("exclusiveMinimum") is not None:
        text += f", above {schema['exclusiveMinimum']}"
    return text


def rows_of(schema, prefix=""):
    """(key, type, description) of an object's keys, and of the objects in them."""
    required = schema.get("required", [])
    for key, value in schema.get("properties", {}).items():
        name = f"{prefix}{key}"
        yield name, type_of(value) + ("" if key in required else " (optional)"), value.get("description", "")
        yield from inner_rows(value, name)
    if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
        value = schema["additionalProperties"]
        yield f"{prefix}NAME", type_of(value), value.get("description", "")
        yield from inner_rows(value, f"{prefix}NAME")


def inner_rows(value, name):
    if "properties" in value or isinstance(value.get("additionalProperties"), dict):
        yield from rows_of(value, name + ".")
    elif isinstance(value.get("items"), dict):
        yield from inner_rows(value["items"], name + "[]")
    else:
        for key in ("anyOf", "oneOf"):
            for one in value.get(key, []):
                yield from inner_rows(one, name)


def table(rows):
    rows = list(dict.fromkeys(rows))
    if not rows:
        return ""
    lines = ["| key | value | meaning |", "|---|---|---|"]
    lines += [f"| `{key}` | {kind} | {prose(text)} |" for key, kind, text in rows]
    return "\n".join(lines) + "\n\n"


def page_of_schema(schema, file):
    text = f"# {schema['title']}\n\n{prose(schema['description'])}\n\nSchema: `{file}`"
    text += f", `{schema['$id']}`.\n\n" if "$id" in schema else ".\n\n"
    if "fields" in schema:
        rows = [(field["name"], field["type"] + ("" if field.get("constraints", {}).get("required") else " (optional)"),
                 field.get("title", "")) for field in schema["fields"]]
        return text + table(rows)
    if not schema.get("properties"):
        text += f"The document is: {type_of(schema)}.\n\n"
    text += table(list(rows_of(schema)) or list(inner_rows(schema, "")))
    for name, inner in schema.get("$defs", {}).items():
        text += f"## {plain(name)} {{ #{name} }}\n\n"
        text += prose(inner.get("description", "")) + "\n\n" if inner.get("description") else ""
        rows = list(rows_of(inner)) or list(inner_rows(inner, ""))
        text += table(rows) if rows else f"A value: {type_of(inner)}.\n\n"
    return text


def write_schemas(root, write):
    folder = os.path.join(root, "schemas")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            schema = json.load(stream)
        write(f"reference/schemas/{name.split('.')[0]}.md", page_of_schema(schema, name))


# --- Python ---------------------------------------------------------------------------------------------------------


def parameter_text(one):
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(one.kind, "")
    kind = "" if one.annotation is inspect.Parameter.empty else f": {getattr(one.annotation, '__name__', one.annotation)}"
    default = "" if one.default is inspect.Parameter.empty else f" = {one.default!r}" if kind else f"={one.default!r}"
    return f"{stars}{one.name}{kind}{default}"


def signature_of(name, function):
    """The call as it is written, with each parameter on a line where they are many."""
    signature = inspect.signature(function)
    parameters, stars = [], False
    for one in signature.parameters.values():
        stars = stars or one.kind == inspect.Parameter.VAR_POSITIONAL
        if one.kind == inspect.Parameter.KEYWORD_ONLY and not stars:
            parameters.append("*")
            stars = True
        if one.name not in ("self", "cls"):
            parameters.append(parameter_text(one))
    result = signature.return_annotation
    result = "" if result is inspect.Signature.empty else f" -> {getattr(result, '__name__', result)}".replace('"', "").replace("'", "")
    text = f"{name}({', '.join(parameters)}){result}"
    return text if len(text) <= 90 else f"{name}(\n    " + ",\n    ".join(parameters) + f",\n){result}"


def documented(thing):
    return textwrap.dedent(inspect.getdoc(thing) or "").replace("``", "`")


def described(text, function):
    """A docstring in Markdown: a paragraph of arguments, `source: a path. gpu: one or several.`, is a list of them."""
    names = set(inspect.signature(function).parameters)
    paragraphs = []
    for paragraph in text.split("\n\n"):
        line = " ".join(paragraph.split("\n"))
        labels = [match for match in re.finditer(r"(?:^|(?<=[.;] ))(\w+(?:, \w+)*): ", line) if names.issuperset(match.group(1).split(", "))]
        if not labels or labels[0].start() != 0:
            paragraphs.append(prose(paragraph))
            continue
        ends = [match.start() for match in labels[1:]] + [len(line)]
        paragraphs.append("\n".join(
            "- " + ", ".join(f"`{name}`" for name in match.group(1).split(", ")) + ": " + prose(line[match.end():end].strip())
            for match, end in zip(labels, ends)))
    return "\n\n".join(paragraphs)


def members_of(kind):
    for name, member in vars(kind).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, (property, classmethod, staticmethod))):
            continue
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        text = inspect.getdoc(function)
        signature = name if isinstance(member, property) else signature_of(name, function)
        yield signature, described(textwrap.dedent(text or "").replace("``", "`"), function)


def entry_of(name, thing):
    if not inspect.isclass(thing) and not inspect.isfunction(thing):
        return f"### {name}\n\n```python\n{name} = {thing}\n```\n\n".replace(f"{thing.__module__}.", "").replace("warptime._program.", "")
    if not inspect.isclass(thing):
        return f"### {name}\n\n```python\n{signature_of(name, thing)}\n```\n\n{described(documented(thing), thing)}\n\n"
    text = f"### {name}\n\n{prose(documented(thing))}\n\n"
    for signature, said in members_of(thing):
        text += f"```python\n{signature}\n```\n\n" + (said + "\n\n" if said else "")
    return text


def write_python(warptime_folder, write):
    sys.path.insert(0, os.path.join(warptime_folder, "python"))
    try:
        import warptime  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise SystemExit(f"scripts/site: no Python module in {warptime_folder}/python: {error}\n"
                         "Build it with: ninja -C build warptime_python warptime_python_sources") from None
    names = [name for name in warptime.__all__ if not name.startswith("__")]
    groups = {"Functions": [], "Classes": [], "Types": [], "Exceptions": []}
    for name in names:
        thing = getattr(warptime, name)
        exception = inspect.isclass(thing) and issubclass(thing, (BaseException, Warning))
        kind = "Classes" if inspect.isclass(thing) else "Functions" if inspect.isfunction(thing) else "Types"
        groups["Exceptions" if exception else kind].append((name, thing))
    import warptime.dask  # pylint: disable=import-outside-toplevel

    groups["Functions"].append(("warptime.dask.sweep", warptime.dask.sweep))
    text = "# The Python module\n\n`import warptime`. Options that are not described here are those of the command.\n\n"
    for title, things in groups.items():
        text += f"## {title}\n\n" + "".join(entry_of(name, thing) for name, thing in things)
    write("reference/python.md", text)


# --- C++ ------------------------------------------------------------------------------------------------------------


def public_headers(root):
    with open(os.path.join(root, "cmake", "install.cmake"), encoding="utf-8") as stream:
        listed = re.search(r"set\(public_headers\s+(.*?)\)", stream.read(), re.S)
    return listed.group(1).split()


def blocks_of(lines):
    """Runs of lines between blank ones, outside braces; namespaces are left out."""
    block, depth = [], 0
    for line in lines:
        if depth == 0 and re.match(r"(#|namespace [\w:]+ \{$|\}\s*// namespace)", line):
            continue
        if not line.strip() and depth == 0:
            if block:
                yield block
            block = []
            continue
        block.append(line)
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", line)
        depth += code.count("{") - code.count("}")
    if block:
        yield block


def comment_text(lines):
    """Comment lines as paragraphs; what is indented stays as it is."""
    paragraphs = [[]]
    for line in lines:
        text = re.sub(r"^\s*// ?", "", line)
        if text.strip():
            paragraphs[-1].append(text)
        elif paragraphs[-1]:
            paragraphs.append([])
    found = ""
    for paragraph in paragraphs:
        if any(re.match(r"\s{3,}", line) for line in paragraph):
            found += "```text\n" + "\n".join(paragraph) + "\n```\n\n"
        elif paragraph:
            found += "\n".join(("\n" if line.startswith("- ") else "") + prose(line) for line in paragraph) + "\n\n"
    return found


def name_of(code):
    text = " ".join(line for line in code if not line.lstrip().startswith("//"))
    for pattern in (r"^(?:template <.*?> )?(?:struct|class|enum class|enum) (\w+)", r"^using (\w+)", r"(\w+) ?\(", r"(\w+) ?[={;]"):
        match = re.search(pattern, text)
        if match:
            return match.group(1)
    return None


def without_private(code):
    """A class without what follows `private:`."""
    found, hidden = [], False
    for line in code:
        if re.match(r"\s*(private|protected):", line):
            hidden = True
        elif re.match(r"\s*public:", line):
            hidden = False
        if not hidden or line.startswith("}"):
            found.append(line)
    return found


def page_of_header(path, lines):
    begin = next(i for i, line in enumerate(lines) if line.startswith("#pragma once"))
    text = f"# {path}\n\n```cpp\n#include <{path}>\n```\n\n" + comment_text(lines[:begin])
    names = set()
    for block in blocks_of(lines[begin + 1:]):
        first = next((i for i, line in enumerate(block) if not line.startswith("//")), len(block))
        code = without_private(block[first:])
        if code and all(re.match(r"(struct|class) \w+;|using \w+::", line) for line in code):
            continue  # declared here, described elsewhere
        name = name_of(code) if code else None
        if name and name not in names:
            names.add(name)
            text += f"## {name}\n\n"
        text += comment_text(block[:first])
        if code:
            text += "```cpp\n" + "\n".join(code) + "\n```\n\n"
    return text


def write_headers(root, write):
    for path in public_headers(root):
        with open(os.path.join(root, path), encoding="utf-8") as stream:
            text = page_of_header(path, stream.read().splitlines())
        write("reference/cpp/" + path.removesuffix(".h").replace("/", "-") + ".md", text)


def write_all(root, warptime, write):
    """Writes every page of reference/ by write(place, text)."""
    write_commands(warptime, write)
    write_schemas(root, write)
    write_python(os.path.dirname(os.path.realpath(warptime)), write)
    write_headers(root, write)
