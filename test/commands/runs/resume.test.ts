import { expect, it } from "vitest";
import { commandNamed } from "../../../src/commands/index.ts";
import { PURPOSES } from "../../../src/manifest/purposes.ts";
import { APPLY, VALUES } from "../../../src/workflows/plan/open-plan.ts";
import { UNDO_COMMAND } from "../../../src/run/recorded/unfinished.ts";

it("a run of each command that records one can be resumed", async () => {
	const recording = Object.values(PURPOSES).filter(({ sendAgain }) => sendAgain !== undefined);
	for (const command of [...recording.map((each) => each.command), APPLY, VALUES, UNDO_COMMAND, "docs sync"]) {
		expect([command, (await commandNamed(command))?.resume]).toEqual([command, expect.any(Function)]);
	}
});
