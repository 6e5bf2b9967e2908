import { expect, it } from "vitest";
import { resumes } from "../../../src/commands/index.ts";
import { PURPOSES } from "../../../src/manifest/purposes.ts";
import { APPLY } from "../../../src/workflows/plan/open-plan.ts";
import { UNDO_COMMAND } from "../../../src/run/recorded/unfinished.ts";

it("a run of each command that records one can be resumed", async () => {
	const recording = Object.values(PURPOSES).filter(({ sendAgain }) => sendAgain !== undefined);
	const commands = [...recording.map(({ command }) => command), APPLY, UNDO_COMMAND, "docs sync"];

	expect([...resumes.keys()].toSorted()).toEqual(commands.toSorted());
	for (const load of resumes.values()) expect(await load()).toBeInstanceOf(Function);
});
