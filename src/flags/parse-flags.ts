import type { Command } from "commander";
import { Parsing } from "../run/operations/parsing.ts";
import type { Session } from "../app.ts";
import type { Given } from "./flags.ts";
import { addRule } from "./refuse.ts";
import { parseTime } from "./values.ts";

/** Flags of commands that parse what they write. `stallTime` is in milliseconds. */
export type ParseFlags = Given<{ parse: boolean; wait: boolean; stallTime: number }>;

/** 30 minutes, in milliseconds: a large scan may stay at one page for some of them. */
export const STALL_TIME = 30 * 60_000;

export function addStallTimeOption(command: Command): Command {
	addRule(command, "--stall-time", "needs", "--wait");
	return command.option(
		"--stall-time <time>",
		"with --wait: a document of which nothing changes for that time fails (default: 30m)",
		parseTime,
	);
}

export function addParseOptions(command: Command): Command {
	addRule(command, "--wait", "needs", "--parse");
	return addStallTimeOption(
		command
			.option("--parse", "starts the parsing of each document after its metadata, unless it is done or at work")
			.option("--wait", "with --parse: waits until each document is done, and exits 1 if one fails"),
	);
}

/** What parses the documents of a run; undefined without `--parse`. */
export function parsingWanted(
	{ service, monitor }: Pick<Session, "service" | "monitor">,
	{ parse, wait = false, stallTime = STALL_TIME }: ParseFlags,
): Parsing | undefined {
	return parse === true ? new Parsing(service, { waits: wait, stallTime, live: monitor.live }) : undefined;
}
