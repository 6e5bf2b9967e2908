import type { App } from "../app.ts";
import { CliError, Exit } from "../errors.ts";

/** Asks the user before a write that is hard to undo. @throws CliError exit 2 where the answer is not yes */
export async function askForYes(question: string, { io, signal }: App): Promise<void> {
	const answer = await io.ask(`${question}${question.endsWith("\n") ? "" : " "}Type yes:`, signal);
	if (answer.trim().toLowerCase() === "yes") return;
	throw new CliError("declined; nothing was changed", { exit: Exit.usage });
}
