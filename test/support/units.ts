/** The settings of a unit of systemd: a key may stand more than once. */
export function unitOf(text: string): ReadonlyMap<string, readonly string[]> {
	const settings = new Map<string, string[]>();
	for (const line of text.split("\n")) {
		const [, key = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
		if (key !== "") settings.set(key, [...(settings.get(key) ?? []), value]);
	}
	return settings;
}

/** A crontab of the system: its variables, and the command of its one job. */
export function crontabOf(text: string): { readonly env: Readonly<Record<string, string>>; readonly command: string } {
	const env: Record<string, string> = {};
	let command = "";
	for (const line of text.split("\n")) {
		const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
		if (name !== "") env[name] = value;
		// Five fields of time, and the user.
		else command = /^(?:[\d*/,-]+ ){5}ragtag (.*)$/.exec(line)?.[1] ?? command;
	}
	if (command === "") throw new Error("the crontab has no job");
	return { env, command };
}
