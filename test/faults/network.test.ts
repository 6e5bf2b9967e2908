import { network } from "./kinds/network.ts";
import { declare } from "./table.ts";

declare("faults of the network", network);
