/**
 * A text whose parts GitHub's runner does not take for commands: it obeys `::name` at the beginning of a line, and `##[name`
 * anywhere in one (`TryParseV2` and `TryParse` in src/Runner.Common/ActionCommand.cs of actions/runner).
 */
export function withoutWorkflowCommands(text: string): string {
	return text.replaceAll("##[", String.raw`#\x23[`).replaceAll(/^([\s\u0085]*):(?=:)/gm, String.raw`$1\x3a`);
}
