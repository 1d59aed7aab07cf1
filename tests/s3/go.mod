module towpath/tests/s3

go 1.26.2

tool github.com/versity/versitygw/cmd/versitygw

require github.com/versity/versitygw v1.8.0
