// Start: each part makes its own controls visible.

// In the frame of a notebook a link within the page would lead to the notebook, whose address is the base of the frame.
function startLinks() {
  if (location.protocol !== "about:") return;
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link === null) return;
    event.preventDefault();
    const place = byId(link.getAttribute("href").slice(1));
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
    place.scrollIntoView({ block: "start" });
  });
}

startLinks();
startTable();
startThreshold();
startMap();
startFolds();
if (report.rows.length > 0) selectRow(0, "start");
