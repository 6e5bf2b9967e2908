import { envelope } from "./kinds/envelope.ts";
import { declare } from "./table.ts";

declare("faults of the envelope", envelope);
