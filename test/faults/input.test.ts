import { input } from "./kinds/input.ts";
import { declare } from "./table.ts";

declare("faults of the input", input);
