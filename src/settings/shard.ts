import { type CliError, usageError } from "../errors.ts";
import { type Shard, SHARD_FORM, shardOf } from "../shard.ts";

/** The largest id with which a whole SLURM array begins: a later one is what is left of an array. */
const FIRST_ID = 1;

type Environment = Readonly<Record<string, string | undefined>>;

/** A scheduler that runs one command many times, each with an index. */
type Scheduler = {
	readonly name: string;
	/** the variable that each of its tasks has, and nothing else */
	readonly variable: string;
	/** what the user must set, or what may be wrong, as the hint of an error */
	readonly hint: string;
	/** the shard by its variables; undefined where they are not whole numbers, or name no part */
	shard(value: (name: string) => number): Shard | undefined;
};

/** The number of shards, from the user. A Kubernetes job does not name it; for other schedulers it must be theirs. */
const COUNT = "RAGTAG_SHARDS";

const SCHEDULERS: readonly Scheduler[] = [
	{
		// kubernetes.io/docs/concepts/workloads/controllers/job, "Completion mode": the index counts from 0. No variable has the
		// completions, and the downward API offers fields of the pod alone, not of its job.
		name: "a Kubernetes indexed job",
		variable: "JOB_COMPLETION_INDEX",
		hint: `Set ${COUNT} in the container's environment to the completions of the job.`,
		shard: (value) => shardOf(value("JOB_COMPLETION_INDEX") + 1, value(COUNT)),
	},
	{
		// slurm.schedmd.com/job_array.html: the ids may begin anywhere and have a step. Only a whole range names parts: of
		// --array=1,5,9, or of one task that was submitted again, the place of an id is not known. Tried with slurmctld 22.05: a
		// list has the step 1, and the largest id is the last that has a task.
		name: "a SLURM array",
		variable: "SLURM_ARRAY_TASK_ID",
		hint: "The array must be whole and without gaps, as in --array=1-8. For one task again, give --shard I/N.",
		shard: (value) => {
			const [id, least, most] = ["ID", "MIN", "MAX"].map((name) => value(`SLURM_ARRAY_TASK_${name}`));
			const count = value("SLURM_ARRAY_TASK_COUNT");
			if (id === undefined || least === undefined || most === undefined) return undefined;
			const step = value("SLURM_ARRAY_TASK_STEP");
			const isWhole = least <= FIRST_ID && (most - least) / step + 1 === count;
			return isWhole ? shardOf((id - least) / step + 1, count) : undefined;
		},
	},
	{
		// cloud.google.com/run/docs/container-contract, "Environment variables for jobs": the index counts from 0.
		name: "a Cloud Run job",
		variable: "CLOUD_RUN_TASK_INDEX",
		hint: "It needs CLOUD_RUN_TASK_COUNT beside it.",
		shard: (value) => shardOf(value("CLOUD_RUN_TASK_INDEX") + 1, value("CLOUD_RUN_TASK_COUNT")),
	},
	{
		// docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html: the index counts from 0, in children of array jobs alone.
		name: "an AWS Batch array",
		variable: "AWS_BATCH_JOB_ARRAY_INDEX",
		hint: "It needs AWS_BATCH_JOB_ARRAY_SIZE beside it.",
		shard: (value) => shardOf(value("AWS_BATCH_JOB_ARRAY_INDEX") + 1, value("AWS_BATCH_JOB_ARRAY_SIZE")),
	},
	{
		// GitLab's lib/gitlab/ci/variables/builder.rb: the index counts from 1, and only jobs of `parallel` have it. Every job
		// has the total, which is 1 without `parallel`.
		name: "a parallel GitLab job",
		variable: "CI_NODE_INDEX",
		hint: "It needs CI_NODE_TOTAL beside it.",
		shard: (value) => shardOf(value("CI_NODE_INDEX"), value("CI_NODE_TOTAL")),
	},
];

/**
 * The shard that the scheduler around the program names, for `--shard auto`.
 *
 * @throws CliError exit 2 where none or several do, or where the variables contradict each other
 */
export function shardOfEnvironment(env: Environment): Shard {
	const found = SCHEDULERS.filter(({ variable }) => isSet(env, variable));
	const [scheduler, ...others] = found;
	if (scheduler === undefined) {
		const known = SCHEDULERS.map(({ variable }) => variable).join(", ");
		throw wrong("--shard auto finds no scheduler", `None of ${known} is set. Give --shard ${SHARD_FORM}.`);
	}
	if (others.length > 0) {
		const names = found.map(({ name, variable }) => `${name} (${variable})`).join(" and ");
		throw wrong(`--shard auto finds ${names}, and can't know which counts`, `Give --shard ${SHARD_FORM}.`);
	}
	const shard = scheduler.shard((name) => numberIn(env[name]));
	const named = Object.keys(env).filter(
		(name) => isSet(env, name) && (name === COUNT || isOfScheduler(name, scheduler)),
	);
	const shown = named
		.toSorted()
		.map((name) => `${name}=${env[name] ?? ""}`)
		.join(", ");
	if (shard === undefined) {
		throw wrong(`--shard auto finds ${scheduler.name}, and no part of a whole in ${shown}`, scheduler.hint);
	}
	if (isSet(env, COUNT) && numberIn(env[COUNT]) !== shard.count) {
		throw wrong(`--shard auto finds two counts in ${shown}`, `Unset ${COUNT}, or give --shard ${SHARD_FORM}.`);
	}
	return shard;
}

function isSet(env: Environment, name: string): boolean {
	return (env[name] ?? "") !== "";
}

/** Whether a variable belongs to what a scheduler says about the parts: the same name but for its last word. */
function isOfScheduler(name: string, { variable }: Scheduler): boolean {
	const family = variable.replace(/(?:INDEX|ID)$/, "");
	return (
		name === variable ||
		(name.startsWith(family) && /^(?:COUNT|SIZE|TOTAL|MIN|MAX|STEP)$/.test(name.slice(family.length)))
	);
}

/** NaN for what is no whole number. */
function numberIn(text: string | undefined): number {
	return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}

function wrong(text: string, hint: string): CliError {
	return usageError(`${text}; nothing was sent`, hint);
}
