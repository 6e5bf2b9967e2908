import { expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import type { JsonValue } from "../../src/json/values.ts";
import { parseSetOption } from "../../src/manifest/set-option.ts";
import { formatCsvManifest } from "./support.ts";

test("plain values get plain columns, others get json", () => {
	const documents = [
		{
			datasetId: "d",
			documentId: "1",
			metadata: new Map<string, JsonValue>([
				["t", "x,y"],
				["n", 1],
				["l", ["a|b", "c"]],
				["name", "z"],
				["e", ""],
			]),
		},
		{
			datasetId: "d",
			documentId: "2",
			metadata: new Map<string, JsonValue>([
				["n", "1"],
				["x:int", "q"],
			]),
		},
	];
	expect(Array.from(formatCsvManifest(documents))).toEqual([
		"document_id,dataset_id,t,n:json,l:list,name:text,e:json,x:int:text\n",
		'1,d,"x,y",1,"a\\|b|c",z,"""""",\n',
		'2,d,,"""1""",,,,q\n',
	]);
});

test.each([
	["a=b", ["a", "b"]],
	["a=b=c", ["a", "b=c"]],
	["dc:title=x", ["dc:title", "x"]],
	["a:text=", ["a", ""]],
	["n:number=-1.5", ["n", -1.5]],
	["b:boolean=true", ["b", true]],
	["l:list=x|y", ["l", ["x", "y"]]],
	['j:json={"k":null}', ["j", { k: null }]],
])("--set %s", (text, setting) => {
	const { key, value } = parseSetOption(text);
	expect([key, value]).toEqual(setting);
});

test.each([["a"], ["=x"], ["n:number=x"], ["n:int=1"], ["b:boolean=yes"], ["j:json={"]])(
	"--set %s is wrong usage",
	(text) => {
		expect(() => parseSetOption(text)).toThrow(expect.objectContaining({ exit: Exit.usage }));
	},
);
