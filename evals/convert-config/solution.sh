cat > settings.toml <<'END'
[server]
host = "127.0.0.1"
port = 8080
debug = false

[server.limits]
requests = 100
burst = "yes"
origins = ["a.example", "b.example", "c.example"]

[paths]
home = "~/data"
note = 'say "hi" \ bye'
END
