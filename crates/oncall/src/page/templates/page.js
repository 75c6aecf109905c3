// Loads the page again, and keeps what somebody has selected, opened or reached by keyboard.
"use strict";
const isSelected = () => !getSelection().isCollapsed;
const keyOf = (details) => details.dataset.key;
const placeOf = (element) => element?.closest("summary, a, [tabindex]");
const sameAs = (focused) => (element) => focused.tagName === element.tagName
  && focused.textContent === element.textContent && focused.href === element.href;

function replace(next) {
  const open = new Map([...document.querySelectorAll("details")].map((one) => [keyOf(one), one.open]));
  for (const one of next.querySelectorAll("details")) one.open = open.get(keyOf(one)) ?? one.open;
  const focused = placeOf(document.activeElement);
  document.title = next.title;
  document.body.replaceChildren(...next.body.childNodes);
  if (focused) {
    const all = [...document.querySelectorAll("summary, a, [tabindex]")];
    all.find(sameAs(focused))?.focus({ preventScroll: true });
  }
}

async function refresh() {
  if (isSelected() || document.hidden) return;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!isSelected()) replace(next);
  } catch {
    for (const one of document.querySelectorAll(".stale")) one.hidden = false;
  }
}

const seconds = Number(document.body.dataset.refresh);
if (seconds > 0) setInterval(refresh, 1000 * seconds);
