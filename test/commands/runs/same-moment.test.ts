import { mkdirSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { runId } from "../../../src/run/recorded/run-file.ts";
import { runOf, toTag } from "../../support/recorded.ts";
import { range } from "../../support/values.ts";

afterEach(() => void vi.useRealTimers());

it("a run whose name is taken by one of the same millisecond takes another: it would end without a request, for want of room", async () => {
	const { world, argv } = await toTag(2);
	const moment = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
	// All names of that millisecond but sixteen.
	for (const n of range(4080)) mkdirSync(world.path(runId(moment, n), ""), { recursive: true, mode: 0o700 });
	vi.useFakeTimers({ toFake: ["Date"], now: moment });
	const { exit, stdout, stderr } = await world.run(argv);
	expect({ exit, stderr }).toMatchObject({ exit: 0 });
	expect(range(16, 4080).map((n) => runId(moment, n))).toContain(runOf(stdout));
});
