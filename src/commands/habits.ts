/** A word that people type who know other programs, where they type it, and what to type here. */
export type Habit = readonly [place: string, words: readonly string[], answer: string];

const SHOWN = "ragtag runs list shows all runs, ragtag runs show RUN one of them.";
const CHECK = "ragtag manifest check MANIFEST";
const ONE_DOCUMENT = "ragtag docs show ID-OR-NAME -d DATASET shows one document, and which run set its values.";

/** Place, words, answer. The place is a group; "ragtag" is the program alone, and "*" is any place, which comes last. */
const COMMANDS = `
docs | ls get all | ragtag docs list -d DATASET
docs | view cat info describe head open inspect stat | ${ONE_DOCUMENT}
docs | delete remove del erase destroy | ragtag docs rm MANIFEST --dry-run shows which documents would go; without --dry-run it asks, and removes them.
docs | chunk embed index | ragtag docs parse -d DATASET starts parsing, and with --wait follows it.
docs | mv move rename | ragtag does not rename documents. An upload stores them under the column name.
datasets | ls get show info describe view all | ragtag datasets list
datasets | add new make mkdir | ragtag datasets create NAME
datasets | delete remove rm del drop destroy prune rename update edit set mv | ragtag neither changes nor removes datasets: do that in RAGFlow.
runs | ls get all | ${SHOWN}
runs | view info describe inspect tail watch follow attach | ragtag runs show RUN
runs | continue unpause restart rerun redo replay start | ragtag runs adjust --continue ends a pause; ragtag runs resume RUN goes on with an unfinished run, ragtag runs retry RUN sends failed rows again.
runs | delete remove rm del clean cleanup clear gc forget | ragtag runs prune --dry-run shows which records would go. A run without its record can't be undone.
runs | check validate test compare | ragtag runs verify RUN
runs | rate throttle speed limit | ragtag runs adjust --rate N
manifest | verify test fsck | ${CHECK}
manifest | new create make generate export download get | ragtag manifest init -d DATASET --out FILE
manifest | send push run write import load | ragtag docs tag MANIFEST
ragtag | ls list get | ragtag datasets list lists datasets, ragtag docs list -d DATASET documents, ragtag runs list what was done.
ragtag | rm remove delete del destroy | ragtag docs rm MANIFEST --dry-run shows which documents would go; ragtag runs prune --dry-run which records of runs.
ragtag | forget prune gc clean | ragtag runs prune --dry-run shows which records of runs would go.
ragtag | init | ragtag manifest init -d DATASET --out FILE writes a manifest. There is nothing else to set up.
ragtag | new mkdir create | ragtag datasets create NAME
ragtag | serve server start up mock | ragtag sandbox
ragtag | ping whoami test health env | ragtag doctor
ragtag | version | ragtag --version
ragtag | show view describe info | ${SHOWN} ${ONE_DOCUMENT}
* | update set edit patch label write annotate modify change | ragtag docs tag MANIFEST writes metadata; without a manifest: ragtag docs tag -d DATASET --where KEY=VALUE --set KEY=VALUE --mode merge
* | add put cp copy push import load insert ingest | ragtag docs upload MANIFEST uploads files; ragtag docs tag MANIFEST tags documents that are there.
* | export pull fetch dump save backup unload download snapshot | ragtag docs download -d DATASET --out FOLDER writes documents as files, with a manifest; ragtag manifest init -d DATASET --out FILE the manifest alone.
* | sync mirror rsync | ragtag docs sync FOLDER -d DATASET makes a dataset hold what a folder holds; --dry-run shows the steps.
* | diff compare preview | ragtag docs tag MANIFEST --dry-run shows what would change; ragtag docs plan MANIFEST --out FILE keeps it.
* | search find query filter grep | ragtag docs list -d DATASET --where KEY=VALUE finds documents.
* | validate lint | ${CHECK}
* | undo revert rollback restore | ragtag runs undo RUN --dry-run shows what would be restored; without --dry-run it asks, and restores it.
* | count stats keys facets tags metadata | ragtag values -d DATASET
* | status history log logs ps jobs tasks monitor top | ${SHOWN}
* | pause suspend hold | ragtag runs adjust --pause pauses the run that is going on, ragtag runs adjust --continue goes on.
* | stop cancel kill abort halt terminate end | Ctrl-C, or SIGTERM to its process (ragtag runs show RUN names it), ends a run; ragtag runs resume RUN goes on. ragtag runs adjust --pause only pauses it.
* | login logout auth config configure settings | ragtag needs no login: set RAGTAG_BASE_URL and RAGTAG_API_KEY, or write a profile. ragtag help settings shows how.
`;

/** The same for options, of a command or of all in a group. An answer fits where the command has the options that it names. */
const OPTIONS = `
docs sync | --max-delete | --max-remove N is how many documents --remove may remove.
docs | --filter --filter-from --include-from --glob | --include GLOB takes files, --exclude GLOB leaves them out.
docs tag | --id --document-id --doc-id --doc | The ids stand in the manifest, in the column document_id.
docs upload | -f --file --filename --path --from-file --input -i | Files stand without an option: ragtag docs upload FILE... -d DATASET
docs apply | -d --dataset | A plan names its dataset: leave the option out.
docs apply | -f --file --plan --plan-file --input -i | The plan stands without an option, as in tags.plan.
docs plan | -n --dry-run | A plan sends nothing that writes: leave the option out.
runs | -d --dataset | A run knows its dataset: leave the option out.
runs | --run --run-id --id --job --job-id | RUN stands without an option, as in ragtag runs show RUN.
sandbox | -p | --port PORT
* | -v -vv --verbose --trace --log-level --loglevel | --debug prints what is sent, and why. The version: ragtag --version.
* | -s --silent | --quiet prints errors only.
* | -j --jobs --parallel --threads --workers --transfers --parallelism --max-concurrency --max-concurrent-queries | --concurrency N is how many requests are in flight; --rate N how many a second.
* | --retries --retry --low-level-retries --max-retries --tries --max-attempts | --attempts N counts all tries of one row, the first included.
* | --bwlimit --limit-rate --rps --qps --tps --throttle --max-rate --rate-limit --tpslimit --delay --sleep --max-per-second --executor.maxPerSecond | --rate N is the most requests a second.
* | -m --max-time --connect-timeout --request-timeout --read-timeout | --timeout TIME is the longest time of one request.
* | --deadline --max-runtime --time-limit | --max-duration TIME stops the run, and it can be resumed.
* | --merge --append --upsert --patch --partial | --mode merge keeps the keys that a row does not carry.
docs upload | --overwrite --replace --update -u --skip-existing --ignore-existing --no-clobber --if-not-exists --on-conflict | --on-existing skip leaves what is there; --on-existing update-metadata writes its metadata.
datasets create | --if-not-exists --exist-ok --skip-existing --ignore-existing -p | --if-missing prints the id of the dataset that is there.
* | --overwrite --replace | --mode replace, the default, removes keys that a row does not carry; --mode merge keeps them.
* | --preview --simulate --check --what-if --noop --no-op --plan --diff --just-print --check-only -N | --dry-run shows what would change, and sends nothing that writes.
* | --assume-yes --auto-approve --no-confirm --noconfirm --non-interactive --no-input | --yes answers the question.
* | -y --yes --assume-yes --auto-approve --no-confirm --noconfirm --non-interactive --no-input | It asks nothing: leave the option out.
* | --output --output-file -O --save | --out FILE
* | --output -o --output-format -F --out | --format FORMAT is the form, as in --format json. Into a file: > FILE
* | --output -o --output-file -O --out --save | --json prints results. Into a file: > FILE
* | --csv --tsv --table --pretty | --format FORMAT is the form, as in --format csv.
* | --jsonl --ndjson --json-lines --json-output | --json prints JSON lines.
* | -header --no-headers --noheader --no-header --quote --delimiter --delim --separator --sep --field-separator | The first line of a CSV is its header, which also tells the delimiter. Leave the option out.
* | -n --max --top --head --max-results --max-items --first -L --page-size --per-page --page --offset --tail | --limit N prints the first N; all pages are read.
* | --filter --query --selector -l --match --include --search --tag --has | --where KEY=VALUE
* | --columns --select --show --cols --properties | --fields a,b,c
* | --order-by --sort-by --order --orderby --desc --reverse -r | --sort FIELD; --sort -FIELD begins with the largest.
docs | -f --file --input --manifest --input-file --from-file --filename --data -i | The manifest stands without an option, as in tags.csv.
manifest check | -f --file --input --manifest --input-file --from-file --filename --data -i | The manifest stands without an option, as in tags.csv.
* | --dataset-id --dataset_id --datasets --dataset-name --kb --kb-id --knowledge-base --collection --bucket --index --namespace --repo --db --table-name -D | -d DATASET takes the name or the id of a dataset.
* | --tag --meta --metadata --value --label --key-value --var -s --field | --set KEY=VALUE
* | --endpoint --endpoint-url --host --hostname --server --url --address --api-url --base --uri -u | --base-url URL
* | -k --insecure --no-verify --no-verify-ssl --no-check-certificate --skip-tls-verify --insecure-skip-tls-verify --cacert --cert | Certificates are always checked: --ca-file PATH trusts a further one.
* | -x --proxy | HTTPS_PROXY names a proxy: ragtag help environment
* | -H --header -X --request | ragtag sends only headers of its own. The key: RAGTAG_API_KEY
* | -c --config --config-file -p --context --env-file | --profile NAME chooses a profile of config.yaml: ragtag help settings
* | --fail-fast --exit-on-error --stop-on-error --failfast -e | --max-errors 1 stops at the first failed row.
* | --ignore-errors --continue-on-error --keep-going --skip-errors --max-failures | A failed row stops nothing, and is reported: leave the option out. --max-errors N stops at the Nth.
* | --batch --batch-size --chunk-size --page-size --bulk | --chunk N is how many rows are read at a time.
* | --continue --resume-from -C --restart --checkpoint | --resume goes on with the unfinished run of this manifest.
* | --log --log-path --logfile --log-output | --log-file FILE
* | --no-progress --progress-bar --no-progressbar -P --no-bar | --progress none prints none, --progress plain lines.
* | --color --colour --ansi | --no-color turns colour off; FORCE_COLOR=1 turns it on.
* | --state --state-file --workdir --chdir --cache-dir | --state-dir DIR
docs upload | -R --recursive --recurse | Name the files, as in papers/*.pdf.
* | --older --age --days --since --before --keep-within | --older-than 90d
* | --keep --keep-recent --retain --keep-daily | --keep-last N
`;

/** The first one that fits counts. */
export const COMMAND_HABITS: readonly Habit[] = habitsIn(COMMANDS);
export const OPTION_HABITS: readonly Habit[] = habitsIn(OPTIONS);

function habitsIn(table: string): readonly Habit[] {
	return table
		.trim()
		.split("\n")
		.map((line) => {
			const [place = "", words = "", answer = ""] = line.split(" | ");
			return [place, words.split(" "), answer];
		});
}
