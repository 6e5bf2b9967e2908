import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { blocksOf } from "./page.ts";
import { type } from "./shell.ts";

const PAGE = readFileSync(new URL("../../docs/recipes.md", import.meta.url), "utf8");
const RECIPES = blocksOf(PAGE)
	.filter(({ fence }) => fence === "sh")
	.map(({ text }) => text);

const KINDS = ["txt", "md", "html", "csv", "json", "pdf"];

/** 60 files of six kinds in two folders. */
const SIXTY = `mkdir -p papers/hr papers/it
for kind in ${KINDS.join(" ")}; do for n in {1..5}; do
for category in hr it; do echo "$category $n" > papers/$category/202\${n}_Paper-\${n}-$kind.$kind; done; done; done`;

/** A Word file of pandoc, and a PDF of LibreOffice's Calc, which has a title and an author by exiftool. */
const OFFICE = `mkdir papers
printf -- '---\\ntitle: On leave\\nauthor: Ana\\n---\\ntext\\n' | pandoc --from markdown --to docx --output papers/leave.docx
echo none > travel.csv; cp travel.csv papers/other.txt
soffice --headless --convert-to pdf --outdir papers travel.csv > /dev/null 2>&1
exiftool -q -overwrite_original -Title='On travel' -Author=Ana papers/travel.pdf`;

const WEB = `mkdir papers
printf -- '---\\ntitle: On leave\\nauthor: Ana\\n---\\ntext\\n' | pandoc --from markdown --standalone --to html --output papers/leave.html`;

/** As Tika prints it, without the most of its properties. */
const TIKA = `mkdir papers && echo a > papers/a.pdf
printf '{"Content-Type":"application/pdf","dc:title":"On leave","dc:creator":["Ana","Ben"]}' > papers/a.pdf.meta.json`;

type Row = { readonly name: string; readonly meta_fields: Readonly<Record<string, unknown>> };

/** What the dataset holds by names, after a recipe was typed in a folder that `files` fills. */
async function documentsAfter(files: string, recipe: string): Promise<Readonly<Record<string, unknown>>> {
	const printed = await type([
		"ragtag sandbox --flavour ragflow-0.25",
		"export RAGTAG_BASE_URL=http://127.0.0.1:9380 RAGTAG_API_KEY=sandbox-9b82481f7ce9ba9fee539f94777d3364",
		"DATASET=$(ragtag datasets create recipes)",
		files,
		recipe,
		"ragtag docs list -d $DATASET --format jsonl",
	]);
	const lines = (printed.at(-1) ?? "").split("\n").filter((line) => line.startsWith("{"));
	const rows = lines.map((line) => JSON.parse(line) as Row);
	return Object.fromEntries(rows.map(({ name, meta_fields }) => [name, meta_fields]));
}

function isThere(program: string): boolean {
	try {
		execFileSync("which", [program], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

/** The recipe that uses a program. */
const recipeOf = (program: string): string => RECIPES.find((text) => text.includes(program)) ?? "false";

describe("a recipe gives documents the metadata that their files have:", () => {
	it("60 files of six kinds, in two commands", async () => {
		const held = await documentsAfter(SIXTY, recipeOf("{category}"));
		expect([recipeOf("{category}").trim().split("\n").length, Object.keys(held).length]).toEqual([2, 60]);
		expect(held).toMatchObject(
			Object.fromEntries(
				KINDS.map((kind) => [
					`it/2023_Paper-3-${kind}.${kind}`,
					{ category: "it", year: 2023, title: `Paper-3-${kind}` },
				]),
			),
		);
	});

	it("find", async () => {
		const files =
			"mkdir papers; echo new > 'papers/a b.txt'; echo old > papers/old.txt; touch -d 2020-01-01 papers/old.txt";
		const held = await documentsAfter(files, recipeOf("find papers"));
		expect(Object.entries(held)).toEqual([[expect.stringMatching(/a b\.txt$/), { ext: "txt", size: 4 }]]);
	});

	it.skipIf(!["exiftool", "pandoc", "soffice"].every(isThere))(
		"exiftool (skipped where exiftool, pandoc or LibreOffice is missing)",
		async () => {
			expect(await documentsAfter(OFFICE, recipeOf("exiftool"))).toEqual({
				"leave.docx": { Title: "On leave", Author: "Ana" },
				"travel.pdf": { Title: "On travel", Author: "Ana" },
			});
		},
	);

	it.skipIf(!isThere("pandoc"))("pandoc (skipped where pandoc is missing)", async () => {
		expect(await documentsAfter(WEB, recipeOf("pandoc"))).toEqual({
			"leave.html": expect.objectContaining({ title: "On leave", author: "Ana" }),
		});
	});

	it("tika, from what it prints on", async () => {
		const rest = recipeOf("tika").split("\n").slice(1).join("\n");
		expect(await documentsAfter(TIKA, rest)).toEqual({
			"a.pdf": { "dc:title": "On leave", "dc:creator": ["Ana", "Ben"] },
		});
	});
});
