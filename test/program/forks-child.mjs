// Starts two grandchildren that outlive it: one in its own process group, one that has left it. Prints their pids; runs until it is ended.
import { spawn } from 'node:child_process'

spawn('bash', ['-c', 'sleep 1000 & echo "same $!"; set -m; sleep 1000 & echo "other $!"'], { stdio: 'inherit' })
setInterval(() => undefined, 1 << 30)
