import { CliError, Exit } from "../errors.ts";

/** The address of a monitor. No message repeats it: who knows it can report for the job. @throws CliError exit 2 */
export function pingUrl(text: string, origin: string): URL {
	const url = URL.canParse(text) ? new URL(text) : undefined;
	const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
	if (url !== undefined && isHttp && url.username === "" && url.password === "" && url.hash === "") return url;
	throw new CliError(`${origin} is no http or https address without a user name; nothing was sent`, {
		exit: Exit.usage,
		hint: "Write it as the monitor shows it, as in https://hc-ping.com/ID.",
	});
}
