import { type Answer, type Answers, type Rule, ruleOf } from "./rule.ts";

const send = "POST /api/v1/datasets/$D/chunks";
const parses = (rule: string, body: unknown, answers: Answers | Answer | string): Rule =>
	ruleOf(rule, send, answers, { body });
const asked = (rule: string, ids: unknown, answers: Answers | Answer | string): Rule =>
	parses(rule, { document_ids: ids }, answers);
const none = ["UNSTART", "UNSTART", "UNSTART"];

/** POST of chunks, by v0.21.1's public tests (test_parse_documents.py) and the code of all releases. */
export const parseRules: readonly Rule[] = [
	asked("one document", ["$1"], {
		"0.18": { code: 0, body: '{"code":0}', runs: ["UNSTART", "RUNNING", "UNSTART"] },
		"1.0": { code: 0, body: '{"code":0,"data":null,"message":"success"}', runs: ["UNSTART", "RUNNING", "UNSTART"] },
	}),
	asked("all documents", ["$0", "$1", "$2"], { "0.18": { code: 0, runs: ["RUNNING", "RUNNING", "RUNNING"] } }),
	asked("no document", [], { "0.18": { code: 102, message: "`document_ids` is required", runs: none } }),
	parses("no member of that name", { ids: ["$0"] }, { code: 102, message: "`document_ids` is required", runs: none }),
	asked("a document that is not there, beside one that is", ["$0", "f"], {
		"0.18": { code: 102, message: "Documents not found: ['f']", runs: ["RUNNING", "UNSTART", "UNSTART"] },
		"1.0": { code: 102, message: "documents not found: [f]", runs: none },
	}),
	asked("a document twice", ["$0", "$0"], {
		"0.18": {
			code: 0,
			data: { success_count: 1, errors: ["Duplicate document ids: $0"] },
			runs: ["RUNNING", "UNSTART", "UNSTART"],
		},
	}),
	ruleOf("a missing dataset", 'POST /api/v1/datasets/invalid_dataset_id/chunks {"document_ids":["$0"]}', {
		"0.18": { code: 102, message: "You don't own the dataset invalid_dataset_id.", runs: none },
		"1.0": { code: 103, message: "you don't own the dataset invalid_dataset_id", runs: none },
	}),
	parses("a body that is no JSON", "{", {
		"0.18": { code: 100, runs: none },
		"0.23": { code: 102, runs: none },
		"0.24": { code: 100, runs: none },
		"1.0": { status: 400, code: 400, runs: none },
	}),
];
