import { it } from "vitest";
import { helpEntries } from "../support/help-tree.ts";
import { at } from "../support/values.ts";
import { Transcript } from "./transcript.ts";

it("the help of each command, whole", async () => {
	const say = await Transcript.start();
	for (const entry of await helpEntries()) {
		await say.run([...String(at(entry, "command")).split(" ").filter(Boolean), "--help"]);
	}
	for (const topic of ["exit-codes", "environment", "manifest"]) await say.run(["help", topic]);
	for (const mistake of ["docs remove", "docs tgg", "docs list --wher a=b"]) await say.run(mistake.split(" "));
	await say.matches("help");
});
