/** The exit codes: a contract with scripts. A line end divides what is one code for two causes. */
export const exitCodes: readonly (readonly [code: number, meaning: string])[] = [
	[0, "every row reached its goal and every output was written"],
	[1, "finished, and at least one row failed; or the service refused the command"],
	[2, "wrong usage or configuration; nothing was sent"],
	[3, "manifest invalid; nothing was sent"],
	[4, "not trusted: key, certificate or redirect refused; stopped"],
	[5, "locked: another run of this manifest is in progress; nothing was sent"],
	[6, "stopped early by a temporary failure, or by answers that are not the API's; resumable"],
	[7, "this machine's storage failed, or a journal is damaged; resumable"],
	[
		8,
		"the manifest, the plan, the target or the options are not those of the run, or were edited; nothing more was sent",
	],
	[
		9,
		"stopped by a limit: --max-errors, --max-duration, or the first ten rows all refused alike; resumable.\nOr forbidden by the policy of the profile, or a value of another type than its key has: then nothing was sent",
	],
	[
		10,
		"--verify or runs verify: something that was written is lost, or, right after a run, altered.\n--detailed-exitcode: something would change. --undeclared fail: a document is in no row",
	],
	[70, "a fault of the program itself"],
	[74, "a report or standard output could not be written"],
	[129, "stopped by SIGHUP; resumable"],
	[130, "stopped by SIGINT (Ctrl-C); resumable"],
	[143, "stopped by SIGTERM; resumable"],
];

/** The tables of `ragtag help`, a contract with scripts. */
export const tables: ReadonlyMap<string, string> = new Map([
	[
		"exit-codes",
		`Exit codes. New ones may be added; treat an unknown one as failure.

${exitCodes.map(([code, meaning]) => `${String(code).padStart(5)}  ${meaning.replaceAll("\n", "\n       ")}\n`).join("")}`,
	],
	[
		"environment",
		`Where settings come from: flag, then the profile of --profile, then environment, then the profile of RAGTAG_PROFILE,
then default.

  --base-url URL        RAGTAG_BASE_URL      address of the service, with or without /api/v1
  --api-key-file PATH   RAGTAG_API_KEY       the key itself, or
                        RAGTAG_API_KEY_FILE  a file that holds it; - as PATH reads standard input
  --api-key-command COMMAND
                        RAGTAG_API_KEY_COMMAND
                                             a shell command that prints it; else the file ragtag-api-key
                                             in $CREDENTIALS_DIRECTORY
  --profile NAME        RAGTAG_PROFILE       a profile of $XDG_CONFIG_HOME/ragtag/config.yaml
  --state-dir DIR       RAGTAG_STATE_DIR     folder for recorded runs and what is known of services
  --ca-file PATH        NODE_EXTRA_CA_CERTS  further certificates to trust
                        HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                                             as curl understands them; loopback is never proxied
  --shard auto          RAGTAG_SHARDS        number of shards, where a Kubernetes indexed job runs the program
  --limiter ADDRESS     RAGTAG_LIMITER       a Redis over which runs share one --rate
  --no-color            NO_COLOR, FORCE_COLOR
                        PAGER, LESS          what shows a page of ragtag help on a terminal; empty or cat: nothing

A profile: {base_url, api_key_file, api_key_command, ca_file, dataset, rate, flavour, body, policy,
require_https, keep_runs, ping, limiter}. Its key goes only to its address. No flag takes a key: arguments are visible to every user of a machine.
A policy: {protected: [KEY], allowed: {KEY: [VALUE]}, required: [KEY], max_changes: 500 or "5%", no_clearing: true}.
docs plan, tag, apply, upload and rm check all rows against it before they send the first; runs undo does not.
`,
	],
	[
		"manifest",
		`A manifest is CSV (comma, semicolon or tab), a JSON array, JSON lines, or a sheet of an .xlsx workbook; each may be gzipped.
The format is detected from the content; a first line sep=; may name the delimiter of CSV. The encoding is UTF-8, or UTF-16
with a byte-order mark.

  document_id   the document (required for tag and rm)
  dataset_id    its dataset, if not given by --dataset
  file          upload: path of the file, below the manifest's folder (--files-root DIR for another)
  name          upload: name to store under; resolve: name to find; otherwise ignored
  meta_fields   JSON manifests: the metadata object
  _line, _error_code, _error, _attempts   ignored: they come from a failed-rows file
  any other     one metadata key each

A CSV column is text unless its header ends in a type:
  :text  :number  :boolean (true, false, or as spreadsheets save them TRUE, FALSE)
  :list (items divided by |; \\| and \\\\ escape)  :json

With docs tag --mode merge, a value of !delete (--delete-token TEXT) removes its key, and a list of
only +item and -item adds to the present list and removes from it. A value that the document already
has stays as it is. Without --mode merge both are problems; in a :json column they are plain values.

An empty cell means: key not sent (--empty skip), null, or "" (--empty text).
Unless --schema none is given, publish_date must be an existing date YYYY-MM-DD, and url an absolute address.
With docs tag --dry-run or --only-changed, and in docs plan, a value that the document already has
is never a problem.
`,
	],
]);
