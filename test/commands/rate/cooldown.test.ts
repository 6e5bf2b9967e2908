import { expect, it, onTestFinished } from "vitest";
import { ends } from "../../support/ended.ts";
import { systemClock } from "../../../src/run/clock.ts";
import { startSandbox } from "../../../src/sandbox/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, KEY } from "../../support/service.ts";

/** What the service asks to wait, in milliseconds. */
const ASKED = 2_000;

/** A request that left before the client saw the answer arrives so much later at most, in milliseconds. */
const UNDER_WAY = 200;

it("a wait that the service asked of a row also holds for the reading back after the run", async () => {
	const [first, second] = [1, 2].map((n) => String(n).padStart(32, "0"));
	const arrived: number[] = [];
	let throttled: number | undefined;
	const sandbox = await startSandbox({
		port: 0,
		key: KEY,
		documents: 5,
		latency: 50,
		faults: {
			faults: [
				{ fault: "throttle", seconds: ASKED / 1000, when: "before", on: { method: "PUT", document: second, times: 1 } },
			],
		},
		log: (line) => {
			const [time = ""] = line.split(" ");
			arrived.push(Date.parse(time));
			// The line is written when the request is answered.
			if (line.includes(" 429")) throttled = Date.now();
		},
	});
	onTestFinished(() => sandbox.close());
	const unknown = "f".repeat(32);
	const rows = [first, second, unknown].map((id) => `${id},Ann\n`);
	const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);

	const argv = ["docs", "tag", manifest, "-d", sandbox.datasetId ?? "", "--max-errors", "1", "--verify", "all"];
	const world = { env: envOf(sandbox), clock: systemClock };
	const ended = await ragtag([...argv, "--no-undo", "--rate", "unlimited", "--json"], world);
	await ends(ended, 9, { updated: 1, pending: 1, failed: 1, verify: { equal: 1 } });
	const from = throttled ?? Number.NaN;
	const early = arrived.map((time) => time - from).filter((after) => after > UNDER_WAY && after < ASKED - 1);
	expect(early).toEqual([]);
	expect(arrived.filter((time) => time - from >= ASKED - 1).length).toBeGreaterThan(0);
});
