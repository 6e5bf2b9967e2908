type Rule = readonly [pattern: RegExp, name: string];

/** What is different at each run, each kind under a name of its own. The same text is the same number throughout. */
const NUMBERED: readonly Rule[] = [
	[/\b\d{8}T\d{6}-[0-9a-f]{6}\b/g, "RUN"],
	// Documents that a sandbox was filled with have ids that begin with zeros or d0: these are the same each time.
	[/\b(?!0000|d0000)[0-9a-f]{32}\b/g, "ID"],
	[/\b[0-9a-f]{64}\b/g, "SHA256-"],
];

const PLAIN: readonly Rule[] = [
	[/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:PORT"],
	[/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, "TIME"],
	[/"create_time":\d+/g, '"create_time":TIME'],
	[/\b1[5-9]\d{11}\b/g, "TIME"],
	[/"(seconds|milliseconds|ms|latency_ms|oldest_reading_seconds)":[\d.]+/g, '"$1":DURATION'],
	[/\b\d+(\.\d+)? (ms|s)\b(?! at)/g, "DURATION"],
	[/\b127\.0\.0\.1:\d+/g, "127.0.0.1:PORT"],
	[/\b[\d.,]+( rows| requests)? a second/g, "N$1 a second"],
	[/\b[\d,.]+\/s\b/g, "N/s"],
	[/\bpid \d+/g, "pid N"],
	[/\b[\d.,]+ (GB|GiB|MB) (are )?free/g, "SPACE $2free"],
	[/"ragtag":"\d[^"]*"/g, '"ragtag":"VERSION"'],
	[/"by":"[^"]*"/g, '"by":"WHO"'],
	[/Node\.?(js)? v?\d+\.\d+\.\d+/g, "Node VERSION"],
];

/** A transcript without what is different at each run: times, ids, paths. */
export function mask(text: string, folder: string, home: string): string {
	let masked = text.replaceAll(folder, "FOLDER").replaceAll(home, "HOME");
	for (const [pattern, name] of NUMBERED) {
		const seen = new Map<string, string>();
		masked = masked.replace(pattern, (found) => {
			const known = seen.get(found) ?? `${name}${seen.size + 1}`;
			seen.set(found, known);
			return known;
		});
	}
	for (const [pattern, name] of PLAIN) masked = masked.replace(pattern, name);
	return masked;
}
