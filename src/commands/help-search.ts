import type { HelpTree } from "./help-tree.ts";

/** What `ragtag help` can print: a page, a table or a command. */
type Entry = {
	/** what is typed after `ragtag help` */
	readonly name: string;
	readonly title: string;
	readonly sections: readonly Section[];
};

type Section = { readonly heading: string; readonly lines: readonly string[] };

/** The best place of an entry. */
type Hit = { readonly name: string; readonly heading: string; readonly line: string; readonly score: number };

/** How much a word counts against one of the text: in a name or a heading, or in another section. */
const WEIGHT = { heading: 2, elsewhere: 0.8 };

/** The stems of a text in which a word counts twice as much as in a long one. */
const SHORT = 20;

/** The entries that answer a question, best first, each with its best section and line. */
export function searchHelp(entries: readonly Entry[], question: string): readonly Hit[] {
	const wanted = wantedIn(question);
	const parts = entries.flatMap((entry) => {
		const name = stemsIn(`${entry.name} ${entry.title}`);
		const whole = stemsIn(entry.sections.flatMap(({ heading, lines }) => [heading, ...lines]).join("\n"));
		return entry.sections.map(({ heading, lines }) => {
			return { entry, name, whole, heading, lines, head: stemsIn(heading), text: stemsIn(lines.join("\n")) };
		});
	});
	// A word that few sections have says more.
	const rarity = (stem: string): number => {
		const having = parts.filter(({ text, head }) => text.has(stem) || head.has(stem)).length;
		return Math.log(parts.length / Math.max(1, having));
	};
	const rare = new Map(wanted.flat().map((stem) => [stem, rarity(stem)]));
	const best = new Map<Entry, Hit>();
	for (const { entry, name, whole, heading, lines, head, text } of parts) {
		const ofStem = (stem: string): number => {
			const inText = text.has(stem) ? 1 + SHORT / text.size : 0;
			const inHeads = WEIGHT.heading * (Number(name.has(stem)) + Number(head.has(stem)));
			return (rare.get(stem) ?? 0) * (inText + inHeads + (whole.has(stem) ? WEIGHT.elsewhere : 0));
		};
		const scores = wanted.map((stems) => Math.max(...stems.map(ofStem)));
		const met = scores.filter((each) => each > 0).length / Math.max(1, wanted.length);
		const score = met * scores.reduce((sum, each) => sum + each, 0);
		if (score <= (best.get(entry)?.score ?? 0)) continue;
		best.set(entry, { name: entry.name, heading, line: bestLine(lines, wanted) ?? heading, score });
	}
	return [...best.values()].toSorted((one, other) => other.score - one.score);
}

function stemsIn(text: string): ReadonlySet<string> {
	return new Set(wordsOf(text).map(stemOf));
}

/** The line with the most of what is wanted; undefined where no line has any. */
function bestLine(lines: readonly string[], wanted: readonly Wanted[]): string | undefined {
	const met = (line: string): number => {
		const stems = stemsIn(line);
		return wanted.filter((same) => same.some((stem) => stems.has(stem))).length;
	};
	const [best] = lines.map((line) => ({ line, met: met(line) })).toSorted((one, other) => other.met - one.met);
	return best === undefined || best.met === 0 ? undefined : best.line;
}

/** A page of Markdown as an entry. A row of a table, an item and a line of a paragraph are lines. */
export function pageEntry(name: string, text: string): Entry {
	const sections: { heading: string; lines: string[] }[] = [];
	let isCode = false;
	for (const line of text.split("\n")) {
		if (line.startsWith("```")) isCode = !isCode;
		const heading = isCode ? undefined : /^#+ (.*)$/.exec(line)?.[1];
		if (heading !== undefined) sections.push({ heading, lines: [] });
		else if (/[\p{L}]/u.test(line) && !line.startsWith("```"))
			sections.at(-1)?.lines.push(isCode ? line.trim() : plainOf(line));
	}
	return { name, title: sections[0]?.heading ?? name, sections };
}

/** A line without links, and a row of a table as its cells. */
function plainOf(line: string): string {
	const text = line.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").trim();
	return text.startsWith("|")
		? text
				.slice(1, -1)
				.split(" | ")
				.map((cell) => cell.trim())
				.join("; ")
		: text;
}

/** A table as an entry. */
export function tableEntry(name: string, text: string): Entry {
	const [heading = name, ...lines] = text.split("\n").filter((line) => line.trim() !== "");
	return { name, title: heading, sections: [{ heading: name, lines: lines.map((line) => line.trim()) }] };
}

/** Each command with its options. An option that several commands describe in the same words stands with the first. */
export function commandEntries({ commands }: HelpTree): readonly Entry[] {
	const seen = new Set<string>();
	return commands
		.filter(({ command }) => command !== "")
		.map(({ command, summary, description, examples, options }) => ({
			name: command,
			title: summary,
			sections: [
				{ heading: summary, lines: [description, ...examples] },
				...options.flatMap(({ flag, description: text }) => {
					const line = `${flag}: ${text}`;
					if (seen.has(line)) return [];
					seen.add(line);
					return [{ heading: "", lines: [line] }];
				}),
			],
		}));
}

/** Words that mean the same to people who search, a line each. The pages use one or two of each line. */
const SAME = `
metadata tag label field attribute annotate
key property column
delete remove rm erase purge wipe gone lost
undo rollback revert restore recover
resume continue retry interrupt abort crash kill checkpoint
429 rate limit throttle requests overload tps slow
preview dry-run simulate dryrun diff
token apikey key secret credential password login auth
folder directory
excel xlsx spreadsheet sheet workbook
csv semicolon delimiter separator comma
encoding umlaut garbled charset windows-1252 utf-8 accent
nightly cron night schedule timer overlap
timeout stuck hang stall silence
certificate ca-file tls ssl x509 self-signed
proxy no_proxy https_proxy corporate
machine shard parallel worker cluster kubernetes
prometheus metric monitor alert
ci github gitlab pipeline action
exit-code code status exit
fail error reject bad
approve review plan
backup download export dump
upload ingest import put
parse parsing chunk
batch bulk thousand
existing present current
dataset knowledge collection
document file
duplicate twice
verify check read-back
`;

const MEANINGS = new Map<string, string[]>();
for (const line of SAME.trim().split("\n")) {
	const stems = line.split(" ").map(stemOf);
	for (const stem of stems) MEANINGS.set(stem, [...(MEANINGS.get(stem) ?? []), ...stems]);
}

/** Words without a meaning of their own in a question. */
const EMPTY = new Set(
	"a an the too many of to in on at by for from with without and or is are was were be been it its this that these those i me my we our you your he they do does did can could should would will how what when where which who why not no any all some there if then than so as into out up after before while each every one get got want need make use using via again only also just have has had".split(
		" ",
	),
);

/** The words of a text, in small letters. `dry-run` is a word, and so are `dry` and `run`. */
function wordsOf(text: string): readonly string[] {
	const words = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu) ?? [];
	return words.flatMap((word) => (/[-_]/.test(word) ? [word, ...word.split(/[-_]/)] : [word]));
}

/** A word without the ends of plural, -ing and -ed. Both sides of a comparison are cut in the same way. */
function stemOf(word: string): string {
	if (word.length < 4) return word;
	const stem = word
		.replace(/ies$/, "y")
		.replace(/(?:ings?|ed)$/, "")
		.replace(/(?<=(?:ss|sh|ch|x))es$/, "")
		.replace(/(?<![su])s$/, "")
		.replace(/e$/, "");
	if (stem.length < 3) return word;
	return stem.replace(/([bdgmnprt])\1$/, "$1");
}

/** A word that is searched for, and others that mean the same, as stems. */
type Wanted = readonly string[];

function wantedIn(question: string): readonly Wanted[] {
	const all = wordsOf(question.replace(/too many requests/i, "429").replace(/api.key/i, "token"));
	const full = all.filter((word) => !EMPTY.has(word));
	const stems = new Set((full.length > 0 ? full : all).map(stemOf));
	return Array.from(stems, (stem) => [stem, ...(MEANINGS.get(stem) ?? [])]);
}
