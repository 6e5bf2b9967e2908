/** Runs in the browser, in a page whose content security policy allows this script alone. It asks nothing of any server. */
import type { Chart } from "../chart.ts";
import { drawCharts } from "./charts.ts";
import { makeFilter } from "./filter.ts";

const data = document.querySelector("#data")?.textContent ?? "[]";
// The program wrote it into the same file.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
drawCharts(JSON.parse(data) as readonly Chart[]);
for (const section of document.querySelectorAll<HTMLElement>("section.rows")) makeFilter(section);
