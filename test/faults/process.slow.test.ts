import { processes } from "./kinds/process.ts";
import { declare } from "./table.ts";

declare("faults of processes, storage and time", processes);
