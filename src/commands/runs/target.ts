import type { RunFile } from "../../run/recorded/run-file.ts";
import type { GlobalFlags } from "../options/flags.ts";

/**
 * Where a recorded run went, if nothing else says where to: what looks back at it is not to look elsewhere because a
 * variable is not set.
 *
 * @param isUnset whether neither a flag nor the environment names an address
 */
export function targetOf(
	{ baseUrl, flags: pairs }: Pick<RunFile, "baseUrl" | "flags">,
	flags: GlobalFlags,
	isUnset: boolean,
): Pick<GlobalFlags, "profile" | "baseUrl"> {
	const profile = pairs[pairs.indexOf("--profile") + 1];
	if (flags.profile === undefined && pairs.includes("--profile") && profile !== undefined) return { profile };
	return isUnset ? { baseUrl } : {};
}
