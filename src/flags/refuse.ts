import { type CliError, usageError } from "../errors.ts";

/** The error of flags that do not fit together. */
export function refused(text: string, hint?: string): CliError {
	return usageError(`${text}; nothing was sent`, hint);
}

type Asking = { readonly yes?: boolean | undefined; readonly dryRun?: boolean | undefined };

/** @throws CliError exit 2 where a question is to come that can't be asked. A dry run asks none. */
export function checkCanAsk(
	command: string,
	{ yes = false, dryRun = false }: Asking,
	isAskable: boolean,
	hint = "Add --yes if you are sure.",
): void {
	if (yes || dryRun || isAskable) return;
	throw refused(`${command} asks for confirmation, and standard input is no terminal`, hint);
}
