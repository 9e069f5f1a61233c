// A page of --watch: it looks now and then whether its file holds a newer one, shows that in its place, and keeps what the reader
// has chosen. The policy forbids every request but a frame of a file: the page asks itself in one (probe.js), which takes some
// milliseconds, and neither shows nor interrupts anything. A file that is gone or cut off gives no answer, and the page stays.
import { h, replace } from "./dom.js";

const EVERY_MS = 400, PATIENCE_MS = 3000, MOST_UNANSWERED = 3;

const element = document.getElementById("watch");
// Null without --watch: nothing below does anything.
export const watched = element === null ? null : JSON.parse(element.textContent);

// What the reader had chosen on the page that this one replaces. In the history's entry: nothing of it is in the address or stored
// beyond the tab, and a page that is opened anew begins anew.
export const kept = (watched !== null && window.history.state?.warptime) || null;

const banner = watched === null ? null : h("p", { class: "watch", role: "status" });
export const banners = () => banner;

function tell({ time, stale }, blind) {
  banner.classList.toggle("warn", stale !== null);
  replace(banner, stale === null ? `Predicted at ${time}. ` : [h("strong", {}, `Older than its source: the report of ${time}. `), `What was saved at ${stale.since} gives none: `, h("code", {}, stale.why), " "],
    blind ? "This browser does not let the page look for a newer one: reload it to see that." : "It follows its source as long as the command runs.");
}

// A probe's answer, or null. Frames of others can send messages, too.
function asked() {
  return new Promise((answer) => {
    const frame = h("iframe", { hidden: true, title: "Is there a newer report?", src: `${location.href.split("#")[0]}#warptime-probe` });
    const end = (found) => {
      window.removeEventListener("message", hear);
      clearTimeout(timer);
      frame.remove();
      answer(found);
    };
    const hear = (event) => {
      if (event.source !== frame.contentWindow || typeof event.data !== "string") return;
      try {
        end(JSON.parse(event.data));
      } catch {
        end(null);
      }
    };
    const timer = setTimeout(() => end(null), PATIENCE_MS);
    window.addEventListener("message", hear);
    // Loaded without an answer: cut off, or gone.
    frame.addEventListener("load", () => setTimeout(() => end(null), 200));
    document.body.append(frame);
  });
}

// save(): what is chosen, as JSON can hold it.
export function follow(save) {
  if (watched === null) return;
  const keep = () => window.history.replaceState({ warptime: save() }, "");
  window.addEventListener("pagehide", keep);
  let shown = JSON.stringify(watched.stale), unanswered = 0, answered = false, asking = false, timer = 0;
  tell(watched, false);
  const ask = async () => {
    clearTimeout(timer);
    if (asking || document.visibilityState === "hidden") return;
    asking = true;
    const begin = performance.now();
    const found = await asked();
    asking = false;
    if (found === null) {
      if (!answered && ++unanswered === MOST_UNANSWERED) tell(watched, true);
    } else {
      answered = true;
      if (found.revision !== watched.revision) {
        keep();
        return location.reload();
      }
      if (JSON.stringify(found.stale) !== shown) (shown = JSON.stringify(found.stale)), tell(found, false);
    }
    // Where asking takes long, less often.
    timer = setTimeout(ask, Math.max(found === null ? 2000 : EVERY_MS, 20 * (performance.now() - begin)));
  };
  document.addEventListener("visibilitychange", ask);
  window.addEventListener("focus", ask);
  timer = setTimeout(ask, EVERY_MS);
}
