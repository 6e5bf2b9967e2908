import { Parsing } from "../run/operations/parsing.ts";
import type { Session } from "../app.ts";
import { toggle, valued, type ValuesOf } from "./declare.ts";
import { parseTime } from "./values.ts";

/** 30 minutes, in milliseconds: a large scan may stay at one page for some of them. */
export const STALL_TIME = 30 * 60_000;

/** Options of commands that parse what they write. `stallTime` is in milliseconds. */
export const PARSE = {
	parse: toggle("--parse", "starts the parsing of each document after its metadata, unless it is done or at work"),
	wait: toggle("--wait", "with --parse: waits until each document is done, and exits 1 if one fails").rule(
		"needs",
		"--parse",
	),
	stallTime: valued(
		"--stall-time <time>",
		"with --wait: a document of which nothing changes for that time fails (default: 30m)",
		parseTime,
	).rule("needs", "--wait"),
};

export type ParseFlags = ValuesOf<typeof PARSE>;

/** What parses the documents of a run; undefined without `--parse`. */
export function parsingWanted(
	{ service, monitor }: Pick<Session, "service" | "monitor">,
	{ parse, wait = false, stallTime = STALL_TIME }: ParseFlags,
): Parsing | undefined {
	return parse === true ? new Parsing(service, { waits: wait, stallTime, live: monitor.live }) : undefined;
}
