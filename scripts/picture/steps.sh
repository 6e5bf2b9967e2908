# The commands of the picture, in a folder of their own, with a sandbox's address and key in the environment.
ragtag() { node "$RAGTAG" "$@"; }
show() { printf '\e[1;32m$\e[0m \e[1m%s\e[0m\n' "$1"; eval "$1"; echo; }

# What is there before: 200 documents, and a manifest with an id, and what is to be known of each document.
mkdir papers
kinds=(contract invoice report letter)
teams=(legal finance research sales)
for n in $(seq -w 1 200); do
	k=$((10#$n % 4))
	echo "$n" >"papers/${kinds[k]}-$n.txt"
	echo "${kinds[k]}-$n.txt,${teams[k]},$((2019 + 10#$n % 7))" >>rows
done
ragtag datasets create papers >/dev/null
ragtag docs upload papers -d papers --names base >ids.csv 2>/dev/null
(echo name,team,year:number && cat rows) >names.csv
ragtag docs resolve names.csv -d papers >tags.csv 2>/dev/null

show 'head -3 tags.csv'
show 'ragtag docs tag tags.csv --dry-run --quiet | tail -8'
show 'ragtag docs tag tags.csv --verify all'
show 'ragtag docs list -d papers --where team=legal --sort name --limit 3'
show 'ragtag runs undo --yes'
