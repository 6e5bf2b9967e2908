import { expect, it } from "vitest";
import type { RunFile } from "../../../src/run/recorded/run-file.ts";
import { recordedJobKey } from "../../../src/run/recorded/unfinished.ts";

/** A run of a plan with this content, which brings the same state up to date. */
function fileOf(command: string, sha256: string, parse: boolean): RunFile {
	const run = "20260101T000000-000001";
	return {
		run,
		command,
		ragtag: "0.2.0",
		order: 1,
		started: "2026-01-01T00:00:00.000Z",
		baseUrl: "http://127.0.0.1/api/v1",
		manifest: { name: "papers", path: `/runs/${run}/manifest`, sha256, rows: 1 },
		options: { dataset: "d", sync: "/state", parse },
		flags: [],
	};
}

it("a sync takes the place of an older one of its state, whatever its options and its files", () => {
	const keys = [fileOf("docs sync", "a", false), fileOf("docs sync", "b", true)].map(recordedJobKey);
	expect(new Set(keys).size).toBe(1);
});

it("an undo of a sync takes no other undo's place, or that would be resumed by name alone", () => {
	const keys = [fileOf("runs undo", "a", false), fileOf("runs undo", "b", false)].map(recordedJobKey);
	expect(new Set(keys).size).toBe(2);
});
