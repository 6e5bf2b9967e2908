import { tls } from "./kinds/tls.ts";
import { declare } from "./table.ts";

declare("faults of TLS", tls);
