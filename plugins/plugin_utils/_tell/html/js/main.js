// SPDX-License-Identifier: GPL-3.0-or-later
// All parts, in the order in which they need each other.

find("hosts-app").hidden = false;
startWords();
startTheme();
startGrid();
startControls();
startKeys();
startCauses();
startPrint();
startCsv();
startAge();
startFolds();
startDialog();
document.documentElement.dataset.script = "on";
