# Runs inside a sandbox, started by self-test-limits.ts, and goes over one limit until it is ended from outside.
case "$1" in
memory) # $2: bytes that each of four processes fills
  for each in 1 2 3 4; do dd if=/dev/zero of=/dev/null bs="$2" 2>/dev/null & done
  sleep 60
  ;;
processes) # $2: how many are started; in a shell of their own, because a shell ends when it may not fork
  (
    started=0
    while [ "$started" -lt "$2" ]; do
      sleep 60 &
      started=$((started + 1))
    done
  )
  sleep 60
  ;;
cpu)
  while :; do :; done
  ;;
esac
