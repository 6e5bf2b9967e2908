// What a figure is held against, and how figures are printed. No clocks here: test/bench has tables for it.

/** `at least`, `more than`, `at most`, `less than` */
const RELATIONS = {
	">=": (figure, limit) => figure >= limit,
	">": (figure, limit) => figure > limit,
	"<=": (figure, limit) => figure <= limit,
	"<": (figure, limit) => figure < limit,
};

/** Whether a figure reaches a goal such as `<= 1.3`; null where there is no goal, or no figure. */
export function holds(figure, goal) {
	if (goal === undefined || figure === undefined) return null;
	const [relation, limit] = goal.split(" ");
	const compare = RELATIONS[relation];
	if (compare === undefined || !(Number(limit) >= 0)) throw new Error(`no goal: ${goal}`);
	return compare(figure, Number(limit));
}

/** The JSON line of a figure. `figure` is null where it could not be measured, `holds` also where there is no goal. */
export function jsonLine({ name, figure, goal }) {
	return JSON.stringify({ name, figure: figure ?? null, goal: goal ?? null, holds: holds(figure, goal) });
}

export const TABLE_HEAD = "| measure | figure | goal | reached |\n|---|---|---|---|";

/** A row of the table. Numbers are as a person writes them; `why` says why there is none. */
export function tableRow({ name, figure, goal, why }) {
	const verdict = holds(figure, goal);
	const shown = figure === undefined ? `not measured${why === undefined ? "" : `: ${why}`}` : numberText(figure);
	const reached = verdict === null ? "" : verdict ? "yes" : "**no**";
	return `| ${name} | ${shown} | ${goal === undefined ? "" : goalText(goal)} | ${reached} |`;
}

/** A Markdown table of objects. Their members are the columns; a figure that one lacks leaves its cell empty. */
export function tableOf(objects) {
	const columns = [...new Set(objects.flatMap((each) => Object.keys(each)))];
	const line = (cells) => `| ${cells.join(" | ")} |`;
	const cell = (figure) => (figure === undefined ? "" : numberText(figure));
	const lines = objects.map((each) => line(columns.map((column) => cell(each[column]))));
	return [line(columns), `|${"---|".repeat(columns.length)}`, ...lines].join("\n");
}

const WORDS = { ">=": "at least", ">": "over", "<=": "at most", "<": "under" };

function goalText(goal) {
	const [relation, limit] = goal.split(" ");
	return `${WORDS[relation]} ${numberText(Number(limit))}`;
}

function numberText(number) {
	return number.toLocaleString("en", { maximumFractionDigits: 3 });
}

/** One sentence: how many goals were reached, and which were not. */
export function verdictText(figures) {
	const held = figures.filter(({ figure, goal }) => holds(figure, goal) === true);
	const missed = figures.filter(({ figure, goal }) => holds(figure, goal) === false);
	const open = figures.filter(({ figure, goal }) => goal !== undefined && figure === undefined);
	const text = `${held.length} of ${held.length + missed.length} measured goals are reached.`;
	const names = (some) => some.map(({ name }) => name).join("; ");
	return [
		text,
		...(missed.length > 0 ? [`Not reached: ${names(missed)}.`] : []),
		...(open.length > 0 ? [`Not measured: ${names(open)}.`] : []),
	].join(" ");
}

/** A page whose section under that heading, up to the next one, is replaced. @param heading `## The table` */
export function withSection(page, heading, text) {
	const begin = page.indexOf(`\n${heading}\n`);
	if (begin < 0) throw new Error(`the page has no heading ${heading}`);
	const from = begin + heading.length + 2;
	const next = page.indexOf("\n## ", from);
	const rest = next < 0 ? "" : page.slice(next);
	return `${page.slice(0, from)}\n${text.trim()}\n${rest}`;
}
