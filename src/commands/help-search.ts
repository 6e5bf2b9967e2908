import type { HelpTree } from "./help-tree.ts";
import { stemOf, type Wanted, wantedIn, wordsOf } from "./help-words.ts";

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

/** How much a word counts where it stands. A word that only means the same counts less. */
const WEIGHT = { name: 2, heading: 2, text: 1, elsewhere: 0.8, alike: 0.6 };

/** How fast further occurrences in a text stop to count, and how much a long text is held against it: usual values of BM25. */
const BM25 = { k: 1.2, b: 0.4 };

type Counted = { readonly counts: ReadonlyMap<string, number>; readonly length: number };

type Indexed = {
	readonly entry: Entry;
	readonly name: Counted;
	readonly all: Counted;
	readonly parts: readonly Part[];
};

type Part = { readonly section: Section; readonly heading: Counted; readonly text: Counted };

/** The entries that answer a question, best first, each with its best section and line. */
export function searchHelp(entries: readonly Entry[], question: string): readonly Hit[] {
	const wanted = wantedIn(question);
	const indexed = entries.map(indexOf);
	const parts = indexed.flatMap((each) => each.parts);
	const average = parts.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, parts.length);
	const rarity = (stem: string): number => {
		const having = parts.filter((part) => part.text.counts.has(stem) || part.heading.counts.has(stem)).length;
		return Math.log(1 + (parts.length - having + 0.5) / (having + 0.5));
	};
	const rare = new Map<string, number>();
	for (const { stem, alike } of wanted) for (const each of [stem, ...alike]) rare.set(each, rarity(each));

	const score = ({ name, all }: Indexed, part: Part): number => {
		const ofStem = (stem: string): number => {
			const inText = saturated(part.text, stem, average);
			const found =
				(name.counts.has(stem) ? WEIGHT.name : 0) +
				(part.heading.counts.has(stem) ? WEIGHT.heading : 0) +
				WEIGHT.text * inText +
				(all.counts.has(stem) ? WEIGHT.elsewhere : 0);
			return found * (rare.get(stem) ?? 0);
		};
		const scores = wanted.map(({ stem, alike }) =>
			Math.max(ofStem(stem), ...[...alike].map((each) => WEIGHT.alike * ofStem(each))),
		);
		const met = scores.filter((each) => each > 0).length / Math.max(1, wanted.length);
		return met * scores.reduce((sum, each) => sum + each, 0);
	};

	return indexed
		.flatMap((each): Hit[] => {
			const [best] = each.parts
				.map((part) => ({ part, score: score(each, part) }))
				.toSorted((one, other) => other.score - one.score);
			if (best === undefined || best.score === 0) return [];
			const { heading, lines } = best.part.section;
			return [{ name: each.entry.name, heading, line: bestLine(lines, wanted) ?? heading, score: best.score }];
		})
		.toSorted((one, other) => other.score - one.score);
}

function indexOf(entry: Entry): Indexed {
	const parts = entry.sections.map((section) => ({
		section,
		heading: counted(section.heading),
		text: counted(section.lines.join("\n")),
	}));
	const all = counted(entry.sections.flatMap(({ heading, lines }) => [heading, ...lines]).join("\n"));
	return { entry, name: counted(`${entry.name} ${entry.title}`), all, parts };
}

function counted(text: string): Counted {
	const stems = wordsOf(text).map(stemOf);
	const counts = new Map<string, number>();
	for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
	return { counts, length: stems.length };
}

function saturated({ counts, length }: Counted, stem: string, average: number): number {
	const count = counts.get(stem) ?? 0;
	return (count * (BM25.k + 1)) / (count + BM25.k * (1 - BM25.b + (BM25.b * length) / Math.max(1, average)));
}

/** The line with the most of what is wanted; undefined where no line has any. */
function bestLine(lines: readonly string[], wanted: readonly Wanted[]): string | undefined {
	const met = (line: string): number => {
		const { counts } = counted(line);
		return wanted.reduce(
			(sum, { stem, alike }) =>
				sum + (counts.has(stem) ? 1 : [...alike].some((each) => counts.has(each)) ? WEIGHT.alike : 0),
			0,
		);
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
