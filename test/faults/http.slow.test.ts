import { http } from "./kinds/http.ts";
import { declare } from "./table.ts";

declare("faults of HTTP", http);
