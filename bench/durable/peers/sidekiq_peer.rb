# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
#
# The contender Sidekiq (see bench/durable/run.py). As a script: sidekiq_peer.rb SOCKET PLAN CHUNK adds the tasks. As what
# `sidekiq -r` loads, with BENCH_WORK="SOCKET TASKS OUT LIMIT": runs them.
require "json"
require "sidekiq"

$stdout.sync = true
work = ENV["BENCH_WORK"]&.split
socket = work ? work[0] : ARGV[0]

class LateTask
  include Sidekiq::Worker
  sidekiq_options retry: false

  class << self
    attr_accessor :late, :wanted, :out, :lock
  end
  self.late = []
  self.lock = Mutex.new

  def self.finish
    File.write(out, late.map { |l| l.round.to_s }.join("\n") + "\n")
    cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :microsecond)
    puts "done " + JSON.generate(handled: late.size, cpu_us: cpu)
    $stdout.flush
    exit! 0
  end

  def perform(due_ms, _pad)
    us = Process.clock_gettime(Process::CLOCK_REALTIME, :microsecond) - due_ms * 1000
    LateTask.lock.synchronize do
      LateTask.late << us
      LateTask.finish if LateTask.late.size == LateTask.wanted
    end
  end
end

if work
  LateTask.wanted = work[1].to_i
  LateTask.out = work[2]
  Sidekiq.configure_server do |config|
    config.redis = { path: socket }
    config.logger = Logger.new($stderr, level: Logger::ERROR)
    config.on(:startup) do
      Thread.new do
        sleep 16 # before its first look at what is due, it waits 10 to 15 s
        puts "ready"
        sleep work[3].to_f
        LateTask.lock.synchronize { LateTask.finish }
      end
    end
  end
else
  Sidekiq.configure_client { |config| config.redis = { path: socket } }
  rows = File.readlines(ARGV[1]).map { |l| l.split.map(&:to_i) }
  most = ARGV[2].to_i
  pad = "x" * 186
  Sidekiq.redis(&:ping)
  puts "ready"
  $stdin.gets
  zero = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
  now = -> { Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond) - zero }
  i = 0
  while i < rows.size
    upto = now.call
    args = []
    at = []
    while i < rows.size && args.size < most && rows[i][0] <= upto
      due = zero + rows[i][1]
      args << [due, pad]
      at << due / 1000.0
      i += 1
    end
    if args.size == 1
      Sidekiq::Client.push("class" => LateTask, "args" => args[0], "at" => at[0])
    elsif args.size > 1
      Sidekiq::Client.push_bulk("class" => LateTask, "args" => args, "at" => at)
    end
    sleep [0.05, (rows[i][0] - now.call) / 1000.0].max if args.size < most && i < rows.size
  end
  puts "done " + JSON.generate(added: rows.size, seconds: now.call / 1000.0)
end
