import type { Command } from "commander";
import type { App } from "../../app.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import { topicsForCompletion } from "../help.ts";
import { type Candidate, type Completion, completionAt } from "./at-cursor.ts";
import { executionOf } from "../../workflows/recorded/run-state.ts";

/** Runs that are offered, the newest first: a longer list does not fit on a screen. */
const MOST_RUNS = 30;

/**
 * Prints the words that fit the end of a command line, for the scripts of `ragtag completion`. Each line has a value, a
 * tab and a description. The last line is `:files`, `:folders` or `:none`: what else the shell may offer.
 *
 * A shell calls it at each Tab, so it asks no service, and prints nothing in place of an error.
 *
 * @param words all words after the program's name; the last one is the word at the cursor, perhaps empty
 */
export async function complete(program: Command, words: readonly string[], app: App): Promise<ExitCode> {
	const completion = completionAt(program, topicsForCompletion(), words);
	const { prefix, typed, source } = completion;
	const candidates = typeof source === "object" ? source : await found(completion, app).catch(() => []);
	const lines = candidates
		.filter(({ value }) => value.startsWith(typed) && isOneWord(value))
		.map(({ value, description }) => `${prefix}${value}\t${oneLine(description)}\n`);
	await app.io.out(`${lines.join("")}:${source === "files" || source === "folders" ? source : "none"}\n`);
	return Exit.ok;
}

async function found({ source, settings: flags }: Completion, app: App): Promise<readonly Candidate[]> {
	if (source === "profiles") return (await app.profiles()).map((value) => ({ value, description: "profile" }));
	if (source === "datasets") {
		const remembered = await app.rememberedDatasets(await app.settings(flags));
		return ((await remembered?.load()) ?? []).map(({ name, id }) => ({ value: name, description: id }));
	}
	if (source === "runs" || source === "unfinished runs" || source === "runs going on")
		return runsOf(source, flags, app);
	return [];
}

async function runsOf(
	which: "runs" | "unfinished runs" | "runs going on",
	flags: Completion["settings"],
	app: App,
): Promise<readonly Candidate[]> {
	const runs = app.runs(await app.settings(flags));
	const candidates: Candidate[] = [];
	for (const name of await runs.names()) {
		if (candidates.length === MOST_RUNS) break;
		const file = await runs.read(name);
		if (file === undefined) continue;
		const isFinished = runs.hasSummary(name);
		if (which !== "runs" && isFinished) continue;
		if (which === "runs going on" && (await executionOf(name, runs, app.processes)) !== "running") continue;
		const { command, manifest } = file;
		candidates.push({ value: name, description: `${command} ${manifest.name}${isFinished ? "" : ", unfinished"}` });
	}
	return candidates;
}

/** A shell divides the answer at line ends and tabs; a name that holds one can't be typed anyway. */
function isOneWord(value: string): boolean {
	// oxlint-disable-next-line no-control-regex -- these are what a name must not hold
	return !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(value);
}

function oneLine(text: string): string {
	// oxlint-disable-next-line no-control-regex -- these are what a terminal must not get
	return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
}
