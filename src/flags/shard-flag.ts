import { type Command, InvalidArgumentError } from "commander";
import type { App } from "../app.ts";
import { usageError } from "../errors.ts";
import { parseShard, type Shard, SHARD_FORM } from "../shard.ts";

export type ShardFlags = {
	/** the part of the manifest's rows that this run takes */
	readonly shard?: Shard | undefined;
};

export function addShardOption(command: Command, app: Pick<App, "shard">): Command {
	return command.option(
		"--shard <i/n or auto>",
		"takes only part I of N of the rows, by a hash of the document; auto asks the scheduler of the job",
		(text) => parse(text, app),
	);
}

function parse(text: string, app: Pick<App, "shard">): Shard {
	const shard = text === "auto" ? app.shard() : parseShard(text);
	if (shard === undefined) throw new InvalidArgumentError(`It is ${SHARD_FORM}; or auto.`);
	return shard;
}

/** @throws CliError exit 2 for a shard of rows that come from no manifest: other machines may have others */
export function checkShard({ shard }: ShardFlags, manifest: string | undefined): void {
	if (shard === undefined || manifest !== undefined) return;
	throw usageError(
		"--shard takes a part of a manifest, and there is none; nothing was sent",
		"Write the rows to a manifest first, and give the same file to every shard.",
	);
}
