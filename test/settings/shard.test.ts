import { describe, expect, it } from "vitest";
import { shardOfEnvironment } from "../../src/settings/shard.ts";

const slurm = (
	id: number,
	min: number,
	max: number,
	{ count = max - min + 1, step = 1 } = {},
): Record<string, string> => ({
	SLURM_ARRAY_TASK_ID: String(id),
	SLURM_ARRAY_TASK_MIN: String(min),
	SLURM_ARRAY_TASK_MAX: String(max),
	SLURM_ARRAY_TASK_COUNT: String(count),
	SLURM_ARRAY_TASK_STEP: String(step),
});

describe("--shard auto", () => {
	it.each([
		["Kubernetes", { JOB_COMPLETION_INDEX: "0", RAGTAG_SHARDS: "8" }, "1/8"],
		["Kubernetes, the last one", { JOB_COMPLETION_INDEX: "7", RAGTAG_SHARDS: "8" }, "8/8"],
		["a SLURM array from 1", slurm(2, 1, 8), "2/8"],
		["a SLURM array from 0", slurm(7, 0, 7), "8/8"],
		["a SLURM array whose size is named too", { ...slurm(2, 1, 8), RAGTAG_SHARDS: "8" }, "2/8"],
		["a SLURM array with a step, as --array=0-7:3 makes it", slurm(3, 0, 6, { count: 3, step: 3 }), "2/3"],
		["Cloud Run", { CLOUD_RUN_TASK_INDEX: "0", CLOUD_RUN_TASK_COUNT: "4" }, "1/4"],
		["AWS Batch", { AWS_BATCH_JOB_ARRAY_INDEX: "9", AWS_BATCH_JOB_ARRAY_SIZE: "10" }, "10/10"],
		["GitLab, which counts from 1", { CI_NODE_INDEX: "1", CI_NODE_TOTAL: "5" }, "1/5"],
		[
			"AWS Batch in a GitLab job without parallel",
			{ AWS_BATCH_JOB_ARRAY_INDEX: "0", AWS_BATCH_JOB_ARRAY_SIZE: "2", CI_NODE_TOTAL: "1" },
			"1/2",
		],
	])("takes the part of %s", (_name, env, shard) => {
		const { index, count } = shardOfEnvironment(env);
		expect(`${index}/${count}`).toBe(shard);
	});

	it.each([
		["no scheduler", { CI_NODE_TOTAL: "1", RAGTAG_SHARDS: "8", JOB_COMPLETION_INDEX: "" }, "finds no scheduler"],
		[
			"two schedulers",
			{ ...slurm(1, 1, 2), CI_NODE_INDEX: "1", CI_NODE_TOTAL: "2" },
			"SLURM_ARRAY_TASK_ID) and a parallel",
		],
		["Kubernetes without a count", { JOB_COMPLETION_INDEX: "3" }, "JOB_COMPLETION_INDEX=3"],
		["fewer parts than indexes", { JOB_COMPLETION_INDEX: "8", RAGTAG_SHARDS: "8" }, "RAGTAG_SHARDS=8"],
		["one task of an array again", slurm(3, 3, 3), "SLURM_ARRAY_TASK_MIN=3"],
		["the rest of an array", slurm(4, 3, 8), "SLURM_ARRAY_TASK_COUNT=6"],
		["a step that the ids do not have", slurm(2, 1, 7, { count: 3, step: 3 }), "SLURM_ARRAY_TASK_STEP=3"],
		["an array with gaps", slurm(5, 1, 9, { count: 3 }), "no part of a whole"],
		["another count than the user's", { ...slurm(2, 1, 2), RAGTAG_SHARDS: "8" }, "two counts"],
		["an index that is no number", { CI_NODE_INDEX: "one", CI_NODE_TOTAL: "5" }, "CI_NODE_INDEX=one"],
	])("refuses %s, as rows would be left out or sent twice", (_name, env, text) => {
		expect(() => shardOfEnvironment(env)).toThrow(text);
	});
});
