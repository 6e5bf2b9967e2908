import { type CliError, usageError } from "../errors.ts";
import { type Shard, SHARD_FORM, shardOf } from "../shard.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A scheduler that runs one command many times, each with an index. */
type Scheduler = {
	readonly name: string;
	/** the variable of the index, which each of its tasks has, and nothing else */
	readonly index: string;
	readonly count: string;
	/** the smallest index */
	readonly first: 0 | 1;
	/** the variables of an array whose indexes begin anywhere, and have a step */
	readonly range?: readonly [least: string, most: string, step: string];
	/** what the user must set, or what may be wrong, as the hint of an error; its count where nothing else may be */
	readonly hint?: string;
};

/** The number of shards, from the user. A Kubernetes job does not name it; for other schedulers it must be theirs. */
const COUNT = "RAGTAG_SHARDS";

const SCHEDULERS: readonly Scheduler[] = [
	{
		// kubernetes.io/docs/concepts/workloads/controllers/job, "Completion mode": no variable has the completions, and the
		// downward API offers fields of the pod alone, not of its job.
		name: "a Kubernetes indexed job",
		index: "JOB_COMPLETION_INDEX",
		count: COUNT,
		first: 0,
		hint: `Set ${COUNT} in the container's environment to the completions of the job.`,
	},
	{
		// slurm.schedmd.com/job_array.html: the ids may begin anywhere and have a step. Only a whole range names parts: of
		// --array=1,5,9, or of one task that was submitted again, the place of an id is not known. Tried with slurmctld 22.05: a
		// list has the step 1, and the largest id is the last that has a task.
		name: "a SLURM array",
		index: "SLURM_ARRAY_TASK_ID",
		count: "SLURM_ARRAY_TASK_COUNT",
		first: 1,
		range: ["SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP"],
		hint: "The array must be whole and without gaps, as in --array=1-8. For one task again, give --shard I/N.",
	},
	{
		// cloud.google.com/run/docs/container-contract, "Environment variables for jobs".
		name: "a Cloud Run job",
		index: "CLOUD_RUN_TASK_INDEX",
		count: "CLOUD_RUN_TASK_COUNT",
		first: 0,
	},
	{
		// docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html: children of array jobs alone have them.
		name: "an AWS Batch array",
		index: "AWS_BATCH_JOB_ARRAY_INDEX",
		count: "AWS_BATCH_JOB_ARRAY_SIZE",
		first: 0,
	},
	{
		// GitLab's lib/gitlab/ci/variables/builder.rb: only jobs of `parallel` have the index. Every job has the total, which is
		// 1 without `parallel`.
		name: "a parallel GitLab job",
		index: "CI_NODE_INDEX",
		count: "CI_NODE_TOTAL",
		first: 1,
	},
];

/**
 * The shard that the scheduler around the program names, for `--shard auto`.
 *
 * @throws CliError exit 2 where none or several do, or where the variables contradict each other
 */
export function shardOfEnvironment(env: Environment): Shard {
	const found = SCHEDULERS.filter(({ index }) => isSet(env, index));
	const [scheduler, ...others] = found;
	if (scheduler === undefined) {
		const known = SCHEDULERS.map(({ index }) => index).join(", ");
		throw wrong("--shard auto finds no scheduler", `None of ${known} is set. Give --shard ${SHARD_FORM}.`);
	}
	if (others.length > 0) {
		const names = found.map(({ name, index }) => `${name} (${index})`).join(" and ");
		throw wrong(`--shard auto finds ${names}, and can't know which counts`, `Give --shard ${SHARD_FORM}.`);
	}
	const { name, index, count, range = [], hint = `It needs ${count} beside it.` } = scheduler;
	const shard = shardFrom(env, scheduler);
	const variables = new Set([index, count, ...range, COUNT].filter((each) => isSet(env, each)).toSorted());
	const shown = Array.from(variables, (each) => `${each}=${env[each] ?? ""}`).join(", ");
	if (shard === undefined) throw wrong(`--shard auto finds ${name}, and no part of a whole in ${shown}`, hint);
	if (isSet(env, COUNT) && numberIn(env[COUNT]) !== shard.count) {
		throw wrong(`--shard auto finds two counts in ${shown}`, `Unset ${COUNT}, or give --shard ${SHARD_FORM}.`);
	}
	return shard;
}

/** Undefined where the variables are not whole numbers, or name no part. */
function shardFrom(env: Environment, { index, count, first, range }: Scheduler): Shard | undefined {
	const [at, total] = [numberIn(env[index]), numberIn(env[count])];
	if (range === undefined) return shardOf(at - first + 1, total);
	const [least, most, step] = [numberIn(env[range[0]]), numberIn(env[range[1]]), numberIn(env[range[2]])];
	// One that begins later is what is left of an array.
	const isWhole = least <= first && (most - least) / step + 1 === total;
	return isWhole ? shardOf((at - least) / step + 1, total) : undefined;
}

function isSet(env: Environment, name: string): boolean {
	return (env[name] ?? "") !== "";
}

/** NaN for what is no whole number. */
function numberIn(text: string | undefined): number {
	return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

function wrong(text: string, hint: string): CliError {
	return usageError(`${text}; nothing was sent`, hint);
}
