export const help = `npm run simulate -- [--quiet | --all] [--seed NUMBER] FILE.yaml

Runs the services of a scenario on a virtual clock, with the rules and the placement that the server uses, and prints what happens: the
virtual time, the service, and the sentence that its events would show. After every commit the invariants of the rules are checked.

  --quiet, -q    Print only mistakes, the final state and the speed.
  --all          Print every line; without it the first 1,000 are printed.
  --seed NUMBER  Use this seed instead of the file's. The same seed draws the same chances again.
  --help, -h     Print this text.

Exit status: 0 when no invariant was broken and every expectation came true, 1 when one was not, 2 when the file can't be run (every mistake
is named).

A scenario file. Durations are seconds, or texts such as 500ms, 90s, 1m30s, 2h; ranges are drawn by chance: 5s..20s.

  seed: 1                                   # of all chances; the same seed gives the same history
  end: 10m
  lease: 15s                                # how long a host may be silent before it is unreachable
  grace: 60s                                # and so much longer before it is lost
  hosts:
    - name: node                            # with count: node-1, node-2 …
      count: 3
      cpuMillis: 8000                       # default 64000
      memoryMiB: 16384                      # default 262144
      portRange: { from: 20000, to: 20999 } # default 20000 to 32000
      reservedPorts: [20005]
  projects: [{ name: default, maxReplicas: 50 }]     # maxReplicas left out: no limit
  queues: [{ name: urgent, priority: 10 }]           # "default" has priority 0
  services:
    - name: web                             # with count: web-1, web-2 …; an event that names web is for all of them
      at: 0s                                # when it is created
      project: default
      queue: default
      replicas: 10
      spread: { mode: BEST_EFFORT, maxPerHost: 1 }   # NONE, BEST_EFFORT, STRICT
      rollout: { maxSurge: 25%, maxUnavailable: 25%, minReadySeconds: 0, progressDeadlineSeconds: 600, autoRollback: false,
                 watchSeconds: 60 }         # minReadySeconds left out: 0, or 5 with readiness: none
      backoff: { baseSeconds: 10, maxSeconds: 300, resetAfterSeconds: 600 }
      # what its replicas are, and how their processes behave; each of these can be given per release too
      cpuMillis: 1000
      memoryMiB: 1024
      ports: [{ name: http, port: null, protocol: TCP }]   # port null: any free one
      readiness: probe                      # none: ready with the process, so that readyAfter says nothing
      restart: { mode: ALWAYS, maxAttempts: 3, windowSeconds: 600, delaySeconds: 1 }   # or ON_FAILURE, NEVER
      stop: { drainSeconds: 3, graceSeconds: 10 }
      startAfter: 0s                        # from being placed to the process
      readyAfter: 5s                        # from the process to ready; or never
      crashAfter: 30s                       # from the process to its own end; left out: it runs on
      crashChance: 1                        # the share of starts that crash
      exitCode: 1
      startFailsChance: 0                   # the share of starts that fail
      portTakenChance: 0                    # the share of first starts whose ports something else holds
      stopAfter: 0s                         # from the signal to the end, within graceSeconds
      release: v1                           # the first to run; left out: the first of releases
      releases: { v1: {}, v2: { readyAfter: never } }
  events:                                   # each at an instant, one action
    - { at: 60s, scale: { service: web, replicas: 12 } }
    - { at: 60s, update: { service: web, release: v2, replicas: 12, rollout: { maxSurge: 1 }, startPaused: false } }
    - { at: 90s, rollback: { service: web, toVersion: 1 } }          # toVersion left out: as the rules choose
    - { at: 90s, pause: { service: web } }                           # also resume, restart, delete, resetBackoff
    - { at: 90s, kill: { service: web, index: 3 } }
    - { at: 90s, fail: { service: web, how: crash, count: 2 } }      # crash, unready, ready; count of them by chance, or indexes: [0, 1]
    - { at: 90s, host: { name: node-1, scheduling: CORDONED } }      # or DRAINING, OPEN
    - { at: 90s, host: { name: node, count: 2, is: DOWN } }          # it dies with all that runs there. SILENT: it runs on, unheard.
                                                                     # UP: it is back. LOST: an operator says so. count of them by chance
    - { at: 90s, quota: { project: default, maxReplicas: 20 } }      # null: no limit
    - { at: 2m, expect: { service: web, status: HEALTHY, version: 2, release: v2, rollout: COMPLETED, blocker: CRASH_LOOP,
                          active: 10, available: 10, lowestAvailable: 8, highestActive: 13 } }
  expect: [{ service: web, status: HEALTHY }]        # the same, at the end

A file with "replay" in it is the history of a test that failed, written by that test: the rules run on its commits again.

Examples: src/simulation/examples/*.yaml. size.yaml is as big as it gets: 150,000 replicas on 5,000 hosts, of which 1,000 die at once while 500
services roll. It takes minutes.`
