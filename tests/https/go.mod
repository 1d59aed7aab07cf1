module towpath/tests/https

go 1.24.0

tool (
	github.com/letsencrypt/pebble/v2/cmd/pebble
	github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv
)

require github.com/letsencrypt/pebble/v2 v2.10.0
