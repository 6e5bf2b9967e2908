import { describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../src/sandbox/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, KEY } from "../../support/service.ts";
import { GivenTimers } from "../../support/timers.ts";

describe("a timetable of rates", () => {
	it.each(["docs tag", "docs list"])("changes the rate of %s while it goes on", async (command) => {
		const timers = new GivenTimers(new Date(2026, 10, 22, 22, 4, 59));
		let requests = 0;
		const sandbox = await startSandbox({
			port: 0,
			key: KEY,
			documents: 3,
			log: () => {
				requests += 1;
				// The first request went out at once. At the rate before 22:05 the next would in a hundred seconds.
				if (requests === 1) timers.now = new Date(2026, 10, 22, 22, 5);
				timers.tick();
			},
		});
		onTestFinished(() => sandbox.close());
		const ids = [1, 2, 3].map((n) => `${String(n).padStart(32, "0")},Ann\n`);
		const manifest = await file("tags.csv", `document_id,author\n${ids.join("")}`);
		const argv = [...command.split(" "), ...(command === "docs tag" ? [manifest] : []), "-d", sandbox.datasetId ?? ""];

		const ended = await ragtag([...argv, "--rate", "08:00=0.01 22:05=unlimited"], { env: envOf(sandbox), timers });
		expect(ended).toMatchObject({ exit: 0 });
		expect(requests).toBeGreaterThan(1);
	});
});
