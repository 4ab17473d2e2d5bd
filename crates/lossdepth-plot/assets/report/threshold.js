// The threshold: a slider over p-values that says what follows.

function showThreshold() {
  const step = report.steps[state.step];
  const slider = byId("slider");
  const [from, to] = [Number(byId("depths").dataset.from), Number(byId("depths").dataset.to)];
  const x = Math.max(0, Math.min(1000, ((step.cut - from) / (to - from)) * 1000));
  byId("below-rect").setAttribute("width", x);
  byId("cut").setAttribute("x1", x);
  byId("cut").setAttribute("x2", x);
  byId("slider-value").textContent = step.words;
  byId("consequence").textContent = step.sentence;
  if (step.drift !== null) byId("drift-flagged").textContent = step.drift;
  slider.value = state.step;
  slider.setAttribute("aria-valuetext", `p at most ${step.words}`);
}

function startThreshold() {
  if (report.steps.length === 0) return;
  byId("slider").addEventListener("input", () => change("step", Number(byId("slider").value)));
  document.querySelector(".slider").hidden = false;
  onChange("step", showThreshold);
  showThreshold();
}
