import type { HeaderRecord } from "./records.ts";

/** What must be the same for a run to be gone on with. */
export type RunIdentity = Pick<HeaderRecord, "command" | "manifest" | "target" | "options">;

/** Hexadecimal digits of a hash that a person compares. */
const SHOWN = 12;

/** One sentence naming what differs between a recorded run and the one that is wanted; undefined where nothing does. */
export function compareHeader(recorded: RunIdentity, wanted: RunIdentity): string | undefined {
	if (recorded.command !== wanted.command) {
		return `the recorded run is one of ${recorded.command}, not of ${wanted.command}`;
	}
	const { manifest: then, target } = recorded;
	const { manifest: now } = wanted;
	if (then.sha256 !== now.sha256 || then.bytes !== now.bytes) {
		const before = `${then.bytes} bytes, SHA-256 ${then.sha256.slice(0, SHOWN)}…`;
		const after = `${now.bytes} bytes, ${now.sha256.slice(0, SHOWN)}…`;
		return `the manifest differs from the one that ${then.name} was when the run began: ${before} then, ${after} now`;
	}
	if (target.baseUrl !== wanted.target.baseUrl) {
		return `the target differs: the recorded run writes to ${target.baseUrl}, not to ${wanted.target.baseUrl}`;
	}
	if (recorded.options !== wanted.options) return "the options that change what is sent differ from the recorded run's";
	const same = then.rows === now.rows && then.invalid === now.invalid && then.duplicateSkipped === now.duplicateSkipped;
	return same
		? undefined
		: `the manifest is judged otherwise than when the run began: ${tally(then)} then, ${tally(now)} now`;
}

function tally({ rows, invalid, duplicateSkipped }: HeaderRecord["manifest"]): string {
	return `${rows} rows with ${invalid} invalid and ${duplicateSkipped} duplicates skipped`;
}
