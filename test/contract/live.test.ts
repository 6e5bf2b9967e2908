import process from "node:process";
import { it } from "vitest";
import { contract } from "./contract.ts";

const url = process.env["RAGTAG_LIVE_URL"];
const key = process.env["RAGTAG_LIVE_KEY"];

if (url === undefined || key === undefined) {
	it.skip("a live service: set RAGTAG_LIVE_URL and RAGTAG_LIVE_KEY to run the contract against it", () => undefined);
} else {
	contract(
		"a live service",
		async () => ({ url, key }),
		async () => undefined,
	);
}
