// Exits at once with the code that is its argument (0).
process.exit(Number(process.argv[2] ?? 0))
