// Start: each part makes its own controls visible.

startTable();
startThreshold();
startMap();
if (report.rows.length > 0) selectRow(0, "start");
