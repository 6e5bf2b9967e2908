import type { App } from "../../app.ts";
import { CliError, Exit } from "../../errors.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { show } from "../../text/show.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { quoted, withFlags } from "../../flags/next-command.ts";

/**
 * Where a command goes that takes up a recorded run: where flag, environment or profile say, the run's own profile
 * among them. The record alone never says where a key goes: whoever could write it would choose.
 *
 * @param verb of `ragtag runs`
 * @throws CliError exit 2 where nothing gives an address
 */
export async function targetOf(
	verb: string,
	{ run, baseUrl, flags: pairs }: Pick<RunFile, "run" | "baseUrl" | "flags">,
	flags: GlobalFlags,
	app: App,
): Promise<Pick<GlobalFlags, "profile">> {
	const at = pairs.indexOf("--profile");
	const profile = flags.profile ?? (at === -1 ? undefined : pairs[at + 1]);
	const settings = await app.settings({ ...flags, profile });
	if (settings.baseUrl !== undefined) return profile === undefined ? {} : { profile };
	const command = withFlags(`ragtag runs ${verb} ${run} --base-url ${quoted(baseUrl)}`, flags);
	throw new CliError(`run ${run} went to ${show(baseUrl)}, which only its record says; nothing was sent`, {
		exit: Exit.usage,
		hint: `The key goes to no address that you did not give. If it is the right one, type: ${command}`,
	});
}
